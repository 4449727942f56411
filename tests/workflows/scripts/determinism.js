//// time: an instance leads to no other Date
//// ! error @2 new Date() without an argument is not there in a workflow
return new (new Date(0).constructor)()
//// time: Date by another way
//// ! error @2 new Date() without an argument is not there in a workflow, where the same script does the same again: pass the time in args
return Reflect.construct(globalThis["Da" + "te"], [])
//// time: as a function, hidden
//// ! error @3 Date() is not there
const D = Date
return D()
//// time: now, hidden
//// ! error @2 Date.now() is not there
return Date["no" + "w"]()
//// time: a subclass
//// ! error @2 new Date() without an argument
class Mine extends Date {}
return new Mine()
//// time: a subclass with a time
//// = [1970, true]
class Mine extends Date {}
return [new Mine(0).getFullYear(), new Mine(0) instanceof Date]
//// time: dates with a time work, in UTC
//// = ["2026-01-02T03:04:05.000Z", 0, 1767323045000, "[object Date]", 7, true]
const d = new Date("2026-01-02T03:04:05Z")
return [d.toISOString(), new Date(2026, 0, 1).getTimezoneOffset(), Date.UTC(2026, 0, 2, 3, 4, 5), Object.prototype.toString.call(d), Date.length || 7, d instanceof Date]
//// time: performance
//// = ["undefined", "undefined"]
return [typeof performance, typeof globalThis.performance]
//// chance: Math.random, hidden
//// ! error @3 Math.random() is not there in a workflow, where the same script does the same again
const m = Math
return m["random"]()
//// code: eval, hidden
//// ! error @2 eval() is not there in a workflow
return globalThis["eval"]("1")
//// code: the constructor of a function
//// ! error @2 Function is not there in a workflow, where the same script does the same again: write the code itself
return (() => 1).constructor("return 1")()
//// code: of an async function
//// ! error @2 AsyncFunction is not there
return (async () => 1).constructor("return 1")()
//// code: of a generator
//// ! error @2 GeneratorFunction is not there
return (function* () {}).constructor("return 1")()
//// code: of an async generator
//// ! error @2 AsyncGeneratorFunction is not there
return (async function* () {}).constructor("return 1")()
//// code: of a built-in function
//// ! error @2 Function is not there
return Object.keys.constructor("return 1")()
//// code: with Reflect
//// ! error @2 Function is not there
return Reflect.construct((() => 1).constructor, ["return 1"])
//// code: as the parent of a class
//// ! error Function is not there
class F extends (() => 1).constructor {}
return new F("return 1")
//// code: through the prototype of the constructors
//// = [true, true, true]
const A = (async () => 1).constructor, F = (() => 1).constructor
return [Object.getPrototypeOf(A) === Function.prototype || Object.getPrototypeOf(A) === F, (async () => 1) instanceof A, (() => 1) instanceof F]
//// gone: what could tell when memory is collected
//// = ["undefined", "undefined", "undefined", "undefined"]
return [typeof globalThis.WeakRef, typeof globalThis.FinalizationRegistry, typeof globalThis.Atomics, typeof globalThis.SharedArrayBuffer]
//// gone: everything of a browser or a server
//// = []
return ["setTimeout", "setInterval", "fetch", "process", "require", "module", "WebAssembly", "Intl", "std", "os", "print", "scriptArgs", "gc", "Worker", "navigator", "crypto"].filter((name) => name in globalThis)
//// gone: import, at run time
//// ? @2:8 `import`: a script is one file
return import("std")
//// same: the order of races is that of the answers
//// = ["<a>", ["<a>", "<b>", "<c>"]]
const order = []
const all = ["a", "b", "c"].map((x) => agent(x).then((v) => { order.push(v); return v }))
const first = await Promise.race(all)
await Promise.all(all)
return [first, order]
//// same: keys, sorting and jobs
//// = [["2", "10", "b", "a"], [1, 10, 2], ["sync", "micro", "await"]]
const order = []
queueMicrotask(() => order.push("micro"))
order.push("sync")
await null
order.push("await")
return [Object.keys({b: 1, a: 1, 10: 1, 2: 1}), [10, 1, 2].sort(), order]
