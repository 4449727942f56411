//// agent: its answer is the value
//// = "<hello>"
//// prompts ["hello"]
return await agent("hello")
//// agent: an answer with data
//// = {"a": [1, null, "x"]}
return await agent('give {"a": [1, null, "x"]}')
//// agent: the answers come by call, not by order
//// = ["<b>", "<a>"]
const a = agent("a"), b = agent("b")
return [await b, await a]
//// agent: where it was called
//// lines [2, 4, 6]
await agent("a")
await (async () => {
  await agent("b")
})()
await parallel(["c"], (x) => agent(x))
//// agent: every option
//// call {"label": "l", "in": "P", "model": "m", "effort": "high", "agentType": "t", "tools": ["Read"], "disallowedTools": ["Bash(rm *)"], "maxTurns": 3, "isolation": "worktree", "mode": "plan", "timeoutMinutes": 0.5, "retries": 2, "onError": "throw", "detail": true, "fresh": true, "schema": {"type": "object"}}
return await agent("x", {label: "l", phase: "P", schema: {type: "object"}, model: "m", effort: "high", agentType: "t",
  tools: ["Read"], disallowedTools: ["Bash(rm *)"], maxTurns: 3, isolation: "worktree", mode: "plan",
  timeoutMinutes: 0.5, retries: 2, onError: "throw", detail: true, fresh: true})
//// agent: options that are undefined or null are not written
//// = "<x>"
//// call {"in": ""}
return await agent("x", {label: undefined, schema: null, retries: undefined, onError: null})
//// agent: no options at all
//// = ["<x>", "<y>"]
return [await agent("x", undefined), await agent("y", null)]
//// agent: no tools is no error
//// call {"tools": []}
return await agent("x", {tools: []})
//// agent: the schema is taken when it is called
//// call {"schema": {"type": "string"}}
const schema = {type: "string"}
const waits = agent("x", {schema})
schema.type = "number"
return await waits
//// agent: a long label is cut, not refused
//// = 200
return (await agent("x", {label: "l".repeat(300), detail: true}), 200)
//// agent: no prompt
//// ! error @2 agent(prompt): the prompt is undefined, not a text
await agent()
//// agent: an object for a prompt
//// ! error @2 the prompt is an object, not a text; JSON.stringify makes one of data
await agent({prompt: "x"})
//// agent: an empty prompt
//// ! error @2 the prompt is empty
await agent("  \n")
//// agent: options that are a text
//// ! error @2 the options are string, not an object
await agent("x", "label")
//// agent: an option that hides from the check
//// ! error @3 agent() has no option "lable": it has label, phase, schema
const how = {lable: "x"}
await agent("x", how)
//// agent: too many retries
//// ! error @2 the option retries is 4: it must be a whole number from 0 to 3
await agent("x", {retries: 4})
//// agent: retries of a text
//// ! error @2 the option retries is 2: it must be a whole number
await agent("x", {retries: "2"})
//// agent: no turns
//// ! error @2 the option maxTurns is 0
await agent("x", {maxTurns: 0})
//// agent: minutes of the past
//// ! error @2 the option timeoutMinutes is -1: it must be a number above 0
await agent("x", {timeoutMinutes: -1})
//// agent: minutes without end
//// ! error @2 the option timeoutMinutes is Infinity
await agent("x", {timeoutMinutes: Infinity})
//// agent: another isolation
//// ! error @2 the option isolation is docker: it can be worktree
await agent("x", {isolation: "docker"})
//// agent: another onError
//// ! error @2 the option onError is retry: it can be null or throw
await agent("x", {onError: "retry"})
//// agent: a flag of a text
//// ! error @2 the option detail is string: it must be true or false
await agent("x", {detail: "yes"})
//// agent: one tool that is no list
//// ! error @2 the option tools is string: it must be a list of names
await agent("x", {tools: "Read"})
//// agent: a tool that is no name
//// ! error @2 the option tools[1] is number: it must be a text
await agent("x", {tools: ["Read", 3]})
//// agent: an empty label
//// ! error @2 the option label is string: it must be a text
await agent("x", {label: " "})
//// agent: a schema that is a list
//// ! error @2 the option schema is an array: it must be a JSON Schema
await agent("x", {schema: []})
//// agent: a schema that is too long
//// ! error @2 the option schema has
await agent("x", {schema: {description: "x".repeat(70000)}})
//// agent: a schema in a circle
//// ! error @4 circular
const schema = {}
schema.properties = schema
await agent("x", {schema})
//// agent: a schema without end in depth
//// ! stack @4 calls itself too often
let schema = {}
for (let i = 0; i < 100000; i++) schema = {not: schema}
await agent("x", {schema})
//// agent: wrong options can be caught
//// = "agent(): the option retries is 9: it must be a whole number from 0 to 3"
try { await agent("x", {retries: 9}) } catch (error) { return error.message }
//// failing: null is no answer
//// = null
return await agent("fail model")
//// failing: it throws where that was asked for
//// = ["AgentError", "model", "the agent ended with model", true]
try { await agent("fail model", {onError: "throw"}) }
catch (error) { return [error.name, error.kind, error.message, error instanceof Error] }
//// failing: uncaught, in the line of the call
//// ! error @3 AgentError: the agent ended with timeout

const a = agent("fail timeout", {onError: "throw"})
await agent("other")
await a
//// failing: with detail it never throws
//// = {"ok": false, "value": null, "error": {"kind": "refused", "message": "the agent ended with refused"}, "agentId": "a1", "usage": {}, "cost": 0}
return await agent("fail refused", {detail: true, onError: "throw"})
//// failing: detail of a success
//// = {"ok": true, "value": "<x>", "agentId": "a1", "usage": {"inputTokens": 10, "outputTokens": 2, "cacheReadTokens": 0, "cacheWriteTokens": 0}, "cost": 0.25, "worktree": "/w"}
return await agent("x", {detail: true, isolation: "worktree"})
//// failing: a call that cannot be made throws whatever was asked for
//// = ["budget", "budget", "budget"]
const kinds = []
for (const how of [{}, {detail: true}, {onError: "null"}]) {
  try { await agent("throw budget", how) } catch (error) { kinds.push(error.kind) }
}
return kinds
//// failing: agent 1,001 uncaught
//// ! error @2 AgentError: the agent ended with agents
await agent("throw agents")
//// parallel: thunks
//// = ["<a>", "<b>"]
return await parallel([() => agent("a"), () => agent("b")])
//// parallel: promises
//// = ["<a>", "<b>"]
return await parallel([agent("a"), agent("b")])
//// parallel: items with a function
//// = ["<a0>", "<b1>"]
//// prompts ["a0", "b1"]
return await parallel(["a", "b"], (item, index) => agent(item + index))
//// parallel: plain values stay
//// = [1, "x", null]
return await parallel([1, "x", undefined])
//// parallel: nothing
//// = []
return await parallel([])
//// parallel: in order, whoever is first
//// = [["<slow>"], "<fast>"]
return await parallel([async () => [await agent("slow")], agent("fast")])
//// parallel: a failed entry is null, logged with its line
//// = ["<a>", null, "<c>"]
//// logs ["parallel: entry 1 failed in line 4 and is null: TypeError: no"]
return await parallel([
  () => agent("a"),
  () => { throw new TypeError("no") },
  () => agent("c"),
])
//// parallel: a rejected promise is null too
//// = [null, 2]
//// logs ["parallel: entry 0 failed and is null: gone"]
return await parallel([Promise.reject("gone"), 2])
//// parallel: a failed agent is null and needs no log
//// = [null]
//// logs []
return await parallel([() => agent("fail model")])
//// parallel: a limit
//// = [3, 0, [0, 1, 2, 3, 4, 5, 6]]
let now = 0, most = 0
const got = await parallel([0, 1, 2, 3, 4, 5, 6], async (n) => {
  most = Math.max(most, ++now)
  await agent("n" + n)
  now--
  return n
}, {limit: 3})
return [most, now, got]
//// parallel: a limit without a function
//// = ["<a>", "<b>"]
return await parallel([() => agent("a"), () => agent("b")], {limit: 1})
//// parallel: a limit of nothing
//// ! error @2 parallel(): the option limit is 0
await parallel([1], {limit: 0})
//// parallel: an option that is none
//// ! error @2 parallel() has no option "max": it has limit
await parallel([1], (x) => x, {max: 3})
//// parallel: no list
//// ! error @2 parallel(list): the first argument is an object, not an array; [...it] makes one of a Set
await parallel(new Set([1]))
//// parallel: no function
//// ! error @2 parallel(list, fn): fn is string, not a function
await parallel([1], "x")
//// parallel: 4,097 entries
//// ! error @2 parallel(list): 4097 entries; at most 4096: go through them in parts
await parallel(new Array(4097).fill(1))
//// parallel: 4,096 entries
//// = 4096
return (await parallel(new Array(4096).fill(1), (x) => x)).length
//// parallel: it does not stop at wrong options
//// = [null, "<b>"]
return await parallel([{retries: 9}, {}], (how, i) => agent("ab"[i], how))
//// parallel: within parallel
//// = [["<00>", "<01>"], ["<10>", "<11>"]]
return await parallel([0, 1], (a) => parallel([0, 1], (b) => agent(`${a}${b}`)))
//// pipeline: stages get the previous, the item and the index
//// = [["<a>", "a", 0], ["<b>", "b", 1]]
return await pipeline(["a", "b"], (item) => agent(item), (previous, item, index) => [previous, item, index])
//// pipeline: no stages
//// = [1, 2]
return await pipeline([1, 2])
//// pipeline: no barrier
//// prompts ["a", "b", "a2", "b2"]
return await pipeline(["a", "b"], (x) => agent(x), (_, x) => agent(x + "2"))
//// pipeline: a throw makes the item null and skips the rest
//// = [null, "<b>!"]
//// logs ["pipeline, stage 1: entry 0 failed in line 2 and is null: Error: no a"]
return await pipeline(["a", "b"], (x) => { if (x === "a") throw new Error("no a"); return agent(x) }, (x) => x + "!")
//// pipeline: null goes on
//// = ["it was null"]
return await pipeline(["fail model"], (x) => agent(x), (x) => x === null ? "it was null" : x)
//// pipeline: a stage that is none
//// ! error @2 pipeline(items, ...stages): stage 2 is an object, not a function
await pipeline([1], (x) => x, {})
//// pipeline: no list
//// ! error @2 pipeline(list): the first argument is string, not an array
await pipeline("abc", (x) => x)
//// pipeline: 4,097 items
//// ! error @2 pipeline(list): 4097 entries
await pipeline(new Array(4097).fill(1), (x) => x)
//// phase: of the calls that follow
//// phases ["One", "Two"]
//// within [["", ""], ["", "One"], ["", "Two"]]
await agent("a")
phase("One")
await agent("b")
phase("Two")
await agent("c")
//// phase: of those until its function has settled
//// = ["<in>", "<out>"]
//// within [["", "Inner"], ["", "Outer"]]
phase("Outer")
const first = await phase("Inner", async () => await agent("in"))
return [first, await agent("out")]
//// phase: it ends with an error too
//// within [["", "Outer"]]
//// = "<out>"
phase("Outer")
try { await phase("Inner", async () => { throw new Error("x") }) } catch {}
return await agent("out")
//// phase: what a call says of itself wins
//// within [["", "Mine"]]
phase("Outer")
await agent("a", {phase: "Mine"})
//// phase: side by side
//// within [["", "A"], ["", "B"], ["", "Outer"]]
phase("Outer")
await parallel([() => phase("A", () => agent("a")), () => phase("B", () => agent("b"))])
await agent("c")
//// phase: another within
//// within [["", "B"], ["", "Outer"]]
phase("Outer")
await phase("A", async () => { phase("B"); await agent("b") })
await agent("c")
//// phase: without a title
//// ! error @2 phase(title): the title is undefined: it must be a text
phase()
//// phase: a function that is none
//// ! error @2 phase(title, fn): fn is string, not a function
phase("A", "B")
//// log: values
//// logs ["text 1 true null undefined {\"a\":[1]} [1,2]"]
log("text", 1, true, null, undefined, {a: [1]}, [1, 2])
//// log: what has no JSON
//// logs ["TypeError: x Symbol(s) 10 [object Object]"]
const circle = {}
circle.self = circle
log(new TypeError("x"), Symbol("s"), 10n, circle)
//// log: nothing
//// logs [""]
log()
//// log: the console
//// logs ["a", "b", "c", "d", "e"]
console.log("a"); console.info("b"); console.warn("c"); console.error("d"); console.debug("e")
//// log: 2,000 characters
//// logs ["xxxxxxxxxx…"]
log("x".repeat(10) + "…")
//// log: more than 1,000 at once
//// = 1
for (let i = 0; i < 5000; i++) log(i)
return 1
//// args: undefined
//// = ["undefined", true]
return [typeof args, args === undefined]
//// args: null
//// args null
//// = true
return args === null
//// args: data
//// args {"names": ["a", "b"], "deep": {"n": 1}}
//// = "ab1"
return args.names.join("") + args.deep.n
//// args: frozen, all of it
//// args {"deep": {"list": [1]}}
//// = [true, true, true, "TypeError"]
let what
try { args.deep.list.push(2) } catch (error) { what = error.name }
return [Object.isFrozen(args), Object.isFrozen(args.deep), Object.isFrozen(args.deep.list), what]
//// args: a text
//// args "fix the tests"
//// = "fix the tests"
return args
//// args: a key of its prototype is a key
//// args {"__proto__": {"x": 1}}
//// = ["undefined", ["__proto__"]]
return [typeof args.x, Object.keys(args)]
//// meta: frozen
//// = ["played", true]
return [meta.name, Object.isFrozen(meta)]
//// budget: nothing said
//// = [null, true, 0, 0, 1000]
return [budget.total, budget.remaining().usd === Infinity, budget.spent().usd, budget.agents.used, budget.agents.left]
//// budget: dollars and tokens
//// budget {"totalUsd": 5, "totalTokens": 1000}
//// = [{"usd": 5, "tokens": 1000}, {"usd": 0, "tokens": 0}, {"usd": 4.5, "tokens": 300}, 1, 9]
const before = budget.spent()
await agent("a")
return [budget.total, before, budget.remaining(), budget.agents.used, budget.agents.left]
//// budget: in a sum it counts as tokens
//// budget {"totalTokens": 1000}
//// = [true, false, 1000]
return [budget.total && budget.remaining() > 500, budget.remaining() < 500, budget.total - budget.spent()]
//// budget: without a limit there is always some left
//// = [true, "<x>"]
return [budget.remaining() > 50000, await agent("x")]
//// budget: frozen
//// ! error @2 TypeError
budget.total = 3
//// workflow: a saved one
//// = ["child", {"n": 1}, "<c>"]
//// within [["child", ""]]
const [given, answer] = await workflow("child", {n: 1})
return ["child", given, answer]
//// workflow: without args
//// = [null, "<c>"]
return await workflow("child")
//// workflow: by its path
//// = [1, "<c>"]
return await workflow({scriptPath: "child"}, 1)
//// workflow: it begins in the phase of the call, and has its own
//// within [["phased", "Outer"], ["phased", "Inside"], ["", "Outer"]]
phase("Outer")
await workflow("phased")
await agent("after")
//// workflow: one level
//// = ["undefined", "nesting", "undefined"]
return await workflow("nesting")
//// workflow: it is not there
//// ! error @2 WorkflowError: there is no workflow other
await workflow("other")
//// workflow: it cannot be compiled
//// = "the workflow broken failed: SyntaxError: invalid redefin"
try { await workflow("broken") } catch (error) { return error.message.slice(0, 56).replace(/['‘’"]/g, "") }
//// workflow: it throws
//// ! error @3 WorkflowError: the workflow throwing failed in its line 3: Error: no

await workflow("throwing")
//// workflow: it waits for nothing
//// ! deadlock waits for a promise
await workflow("stuck")
//// workflow: two side by side
//// = [[1, "<c>"], [2, "<c>"]]
return await parallel([1, 2], (n) => workflow("child", n))
//// workflow: its result is data
//// = {"f": false, "n": 1}
const found = await workflow("meddling")
return {f: "f" in found && typeof found.f === "function", n: found.n}
//// workflow: what it is not given
//// ! error @2 workflow(name | {scriptPath}, args): the first argument is number
await workflow(3)
//// result: nothing
//// = null
log("no return")
//// result: undefined within data
//// = {"b": [null]}
return {a: undefined, b: [undefined]}
//// result: a circle
//// ! error the returned value is no plain data: TypeError: circular
const circle = {}
circle.self = circle
return circle
//// result: a bigint
//// ! error the returned value is no plain data
return {n: 10n}
//// result: a function
//// = null
return () => 1
//// result: a promise of it
//// = "<x>"
return agent("x")
//// result: more than 4 MB
//// ! line the returned value has
return "x".repeat(4100000)
//// result: 3 MB
//// = 3000000
return (await agent("x"), "y".repeat(3000000).length)
//// result: half a character
//// = "�"
return "\ud800".toWellFormed()
//// errors: in the line of the script
//// ! error @4 ReferenceError: missing is not defined
const a = 1

  missing(a)
//// errors: thrown
//// ! error @3 RangeError: too far
function far() {
  throw new RangeError("too far")
}
far()
//// errors: after an await
//// ! error @3 TypeError
const x = await agent("a")
x.y.z
//// errors: in a callback
//// ! error @2 TypeError: not a function
await agent("a").then((x) => x())
//// errors: a text is thrown
//// ! error oh no
throw "oh no"
//// errors: nothing is thrown
//// ! error null
throw null
//// errors: an object is thrown
//// ! error {"code":7}
throw {code: 7}
//// errors: a class of its own
//// ! error @3 Mine: hello
class Mine extends Error { get name() { return "Mine" } }
throw new Mine("hello")
//// errors: in strict mode
//// ! error @2 ReferenceError: counter is not defined
counter = 1
//// errors: nobody waits for it
//// = 1
Promise.reject(new Error("x"))
return 1
//// deadlock: a promise of its own
//// ! deadlock waits for a promise that nothing settles any more
await new Promise(() => {})
//// deadlock: after a call
//// ! deadlock waits for a promise
await agent("a")
await new Promise(() => {})
//// deadlock: a call under way is none
//// = "<b>"
let done
const p = new Promise((r) => { done = r })
agent("b").then(done)
return await p
//// errors: a class with a constructor, thrown elsewhere
//// ! error @5 Refused: no
class Refused extends Error {
  constructor(text) { super(text); this.name = "Refused" }
}
throw new Refused("no")
//// language: what ES2023 has
//// = [[1, 2, 3], 3, {"a": 1}, "b", [3, 2, 1], 2, true]
class Box { #x = 1; static { Box.n = 2 } get x() { return this.#x } static is(b) { return #x in b } }
const {a, ...rest} = {a: 1, b: "b"}
async function* numbers() { yield 1; yield 2 }
let sum = 0
for await (const n of numbers()) sum += n
return [[3, 1, 2].toSorted(), sum, Object.fromEntries([["a", new Box().x]]), rest.b, [1, 2, 3].toReversed(), Box.n, Box.is(new Box())]
//// language: regular expressions and texts
//// = ["x-y", ["2026", "11"], "  a", true]
return ["x y".replaceAll(" ", "-"), "2026-11".match(/(?<y>\d+)-(?<m>\d+)/).slice(1), "a".padStart(3), /^\p{L}+$/u.test("é")]
