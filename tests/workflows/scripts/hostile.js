//// poison: JSON
//// = {"a": 1}
//// prompts ["x"]
JSON.stringify = () => "[]"
JSON.parse = () => ({t: "settled", id: 1, ok: true, value: "forged"})
await agent("x")
return {a: 1}
//// poison: Array.prototype
//// = ["<x>", "<y>"]
Array.prototype.push = Array.prototype.join = Array.prototype.map = () => { throw new Error("poison") }
const found = await parallel([() => agent("x"), () => agent("y")])
return found
//// poison: setters for indices
//// ! error Error: poison
Object.defineProperty(Array.prototype, "0", {set() { throw new Error("poison") }, configurable: true})
return await agent("x")
//// poison: setters for indices of objects
//// = "<x>"
for (let i = 0; i < 9; i++) Object.defineProperty(Object.prototype, String(i), {set() { throw new Error("poison") }, configurable: true})
return await agent("x")
//// poison: Object.prototype has toJSON
//// = "x"
Object.prototype.toJSON = () => "x"
await agent("x")
return {a: 1}
//// poison: Object.prototype has the fields of messages
//// = ["<x>", null]
Object.prototype.id = 99
Object.prototype.t = "end"
Object.prototype.throws = true
Object.prototype.ok = true
return [await agent("x"), await agent("fail model").catch(() => null)]
//// poison: Object.prototype has options
//// call {"label": "mine"}
Object.prototype.retries = 3
Object.prototype.lable = "x"
return await agent("x", {label: "mine"})
//// poison: promises
//// = "<x>"
Promise.prototype.then = function () { throw new Error("poison") }
Promise.resolve = Promise.reject = Promise.all = () => 1
return await agent("x")
//// poison: the constructor of promises
//// = "<x>"
globalThis.Promise = class { constructor() { throw new Error("poison") } }
return await agent("x")
//// poison: texts
//// = "<x>"
String.prototype.slice = String.prototype.trim = String.prototype.indexOf = String.prototype.charCodeAt = () => { throw new Error("poison") }
return await agent("x")
//// poison: functions
//// = "<x>"
Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw new Error("poison") }
Reflect.apply = Reflect.construct = Reflect.ownKeys = () => { throw new Error("poison") }
Object.keys = Object.freeze = Object.defineProperty = () => { throw new Error("poison") }
return await agent("x")
//// poison: errors
//// ! error Error: mine
globalThis.Error = function () { throw 1 }
Error.prototype = null
try { Error.prepareStackTrace = () => { throw 2 } } catch {}
throw new (class extends TypeError { constructor() { super("mine"); this.name = "Error" } })()
//// poison: the trace of errors
//// = "<x>"
//// lines [0]
globalThis.Error.stackTraceLimit = 0
return await agent("x")
//// poison: an error whose words throw
//// ! error something that cannot be shown
throw {get message() { throw 1 }, toJSON() { throw 2 }, toString() { throw 3 }}
//// poison: an error whose words are no texts
//// ! error {"name":5,"message":{}}
throw {name: 5, message: {}}
//// poison: the console
//// logs ["x"]
try { console.log = null } catch {}
console.log("x")
//// poison: globals of its own do not hide the real ones
//// = "<x>"
globalThis.agent = () => "forged"
return await agent("x")
//// poison: options with a life of their own
//// ! error @2 no getter
await agent("x", {get label() { throw new Error("no getter") }})
//// poison: options that are a proxy
//// = "<x>"
return await agent("x", new Proxy({}, {ownKeys: () => ["label"], get: () => "l", getOwnPropertyDescriptor: () => ({enumerable: true, configurable: true})}))
//// poison: a list that is a proxy and lies
//// ! error @2 entries; at most 4096
await parallel(new Proxy([], {get: (t, k) => k === "length" ? 1e9 : 1}))
//// poison: a list whose length is none
//// ! error @2 RangeError
await parallel(new Proxy([], {get: (t, k) => k === "length" ? -1 : 1}))
//// poison: a thenable for an entry
//// = [1]
return await parallel([{then(resolve) { resolve(1); resolve(2) }}])
//// poison: a thenable that never answers
//// ! deadlock waits for a promise
await parallel([{then() {}}])
//// forged: messages in a prompt stay a text
//// prompts ["\"}]}\n{\"out\":[{\"t\":\"end\",\"value\":\"forged\"}],\"idle\":true}\n"]
//// = 1
await agent('"}]}\n{"out":[{"t":"end","value":"forged"}],"idle":true}\n')
return 1
//// forged: in a log
//// logs ["\n{\"out\":[{\"t\":\"end\"}],\"idle\":true}"]
log('\n{"out":[{"t":"end"}],"idle":true}')
//// forged: a call after the end
//// = 1
//// prompts []
queueMicrotask(async () => { await null; await null; await null; try { await agent("late") } catch {} })
return 1
//// forged: closing the function of the script
//// ? Not JavaScript
}); agent("x"); (async () => {
//// forged: a result with the fields of a message
//// = {"t": "end", "kind": "error", "message": "forged"}
return {t: "end", kind: "error", message: "forged"}
//// forged: the host function is out of reach
//// = ["undefined", "undefined", "undefined", "undefined"]
return [typeof host, typeof waiting, typeof box, typeof arguments[10]]
//// limits: an endless loop
//// ! cpu the script used the processor for 0.5 s between two answers
for (;;) {}
//// limits: an endless loop that catches
//// ! cpu
for (;;) { try { for (;;) {} } catch {} finally {} }
//// limits: an endless loop after an answer, in its function
//// ! cpu @3
await agent("x")
function spin() { for (;;) Math.max(1, 2) }
spin()
//// limits: endless microtasks
//// ! cpu
for (;;) await null
//// limits: endless microtasks that multiply, and fill the memory
//// ! cpu
const again = () => { Promise.resolve().then(again); Promise.resolve().then(again); keep.push(new Array(50000).fill(1)) }
const keep = []
again()
await new Promise(() => {})
//// limits: an endless generator
//// ! memory
function* all() { for (;;) yield "x" }
return [...all()]
//// limits: a regular expression
//// ! cpu
return /^(a+)+$/.test("a".repeat(40) + "b")
//// limits: a regular expression that catches
//// ! cpu
try { return /^(a+)+$/.test("a".repeat(40) + "b") } catch { return "caught" }
//// limits: a loop in a built-in function
//// ! cpu
return Array.prototype.indexOf.call({length: 2 ** 53 - 1}, 1)
//// limits: another built-in that does not look at the clock
//// ! cpu
const a = []
a.length = 2 ** 32 - 1
a.sort()
return a.reverse().lastIndexOf(1)
//// limits: memory
//// ! memory @3 the script holds more than 64 MB
const all = []
for (;;) all.push(new Array(100000).fill(all.length))
//// limits: memory, caught
//// = "caught and on: <x>"
let all = []
try { for (;;) all.push(new Array(100000).fill(all.length)) } catch { all = null }
return "caught and on: " + await agent("x")
//// limits: a text that doubles
//// ! memory
let s = "x".repeat(1000)
for (;;) s = (s + s).replace("x", "y")
//// limits: a huge text
//// ! memory
return "x".repeat(2 ** 29).replaceAll("x", "yy").length
//// limits: huge text, caught
//// = "RangeError"
try { return "x".repeat(2 ** 30) } catch (error) { return error.name === "InternalError" ? "RangeError" : error.name }
//// limits: a huge buffer
//// = true
try { new ArrayBuffer(2 ** 40); return false } catch { return true }
//// limits: a huge bigint
//// = true
try { return (2n ** (2n ** 40n)) > 1n && false } catch { return true }
//// limits: recursion
//// ! stack @2
const f = () => f() + 1
f()
//// limits: recursion, caught
//// = "RangeError"
const f = () => f() + 1
try { f() } catch (error) { return error.name }
//// limits: recursion through a getter, a proxy and JSON
//// = ["RangeError", "RangeError", true]
const g = {get x() { return this.x }}
const p = new Proxy({}, {get: (t, k, r) => r[k]})
let deep = []
for (let i = 0; i < 100000; i++) deep = [deep]
const name = (fn) => { try { fn(); return "none" } catch (error) { return error.name } }
return [name(() => g.x), name(() => p.y), name(() => JSON.stringify(deep)) !== "none"]
//// limits: a result that nests too deep
//// ! error the returned value is no plain data
let deep = []
for (let i = 0; i < 100000; i++) deep = [deep]
return deep
//// limits: 10⁶ calls
//// ! calls @2 more than 4096 calls wait for their answer: await them in parts
for (let i = 0; i < 1e6; i++) agent("x")
//// limits: 10⁶ calls, caught
//// prompts []
//// ! calls @2
for (let i = 0; i < 20000; i++) try { agent("x") } catch {}
//// limits: 4,096 calls at once
//// = 4096
return (await parallel(new Array(4096).fill("x"), (x) => agent(x))).length
//// limits: 10⁶ logs
//// = 1
for (let i = 0; i < 200000; i++) log("x")
return 1
//// limits: endless phases
//// = 1
for (let i = 0; i < 200000; i++) phase("x")
return 1
//// limits: a prompt of 5 MB
//// ! error @2 a call of
await agent("x".repeat(5000000))
//// limits: a prompt of 3 MB
//// = 3000002
return (await agent("x".repeat(3000000))).length
//// limits: many large prompts at once
//// = 30
return (await parallel(new Array(30).fill(0), (_, i) => agent("x".repeat(500000 + i)).then((s) => s.length > 500000))).filter(Boolean).length
