//// meta: nothing at all
//// ? @1:1 A script begins with `export const meta
//// own

//// meta: no export
//// ? @1:1 begins with
//// own
const meta = {name: "a", description: "b"}
//// meta: let
//// ? @1:1 begins with
//// own
export let meta = {name: "a", description: "b"}
//// meta: a second declaration beside it
//// ? @1:1 begins with
//// own
export const meta = {name: "a", description: "b"}, other = 1
//// meta: another name
//// ? @1:1 begins with
//// own
export const about = {name: "a", description: "b"}
//// meta: a statement before it
//// ? @2:1 begins with
//// own
// a comment is none
log(1)
export const meta = {name: "a", description: "b"}
//// meta: a directive before it
//// ? @1:1 begins with
//// own
"use strict"
export const meta = {name: "a", description: "b"}
//// meta: comments before it
//// = 1
//// own
// what this is
/* and more */ export const meta = {name: "a", description: "b"}
return 1
//// meta: empty
//// ? @1:21 meta.name is missing
//// own
export const meta = {}
//// meta: no description
//// ? @1:21 meta.description is missing
//// own
export const meta = {name: "a"}
//// meta: an empty description
//// ? @1:46 meta.description must be a text
//// own
export const meta = {name: "a", description: "  "}
//// meta: a number for a name
//// ? @1:28 meta.name must be a text
//// own
export const meta = {name: 3, description: "b"}
//// meta: a name with a space
//// ? @1:28 must be 1 to 40 of the characters a-z, 0-9 and -
//// own
export const meta = {name: "My Flow", description: "b"}
//// meta: a name of 41 characters
//// ? @1:28 must be 1 to 40
//// own
export const meta = {name: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", description: "b"}
//// meta: a call
//// ? @1:46 `f()` in meta.description is something else
//// own
export const meta = {name: "a", description: f()}
//// meta: a sum of texts
//// ? @1:46 `"b" + "c"` in meta.description
//// own
export const meta = {name: "a", description: "b" + "c"}
//// meta: a template with a hole
//// ? @1:46 in meta.description is something else
//// own
export const meta = {name: "a", description: `b${1}`}
//// meta: a template without one
//// = "b"
//// own
export const meta = {name: "a", description: `b`}
return meta.description
//// meta: a spread
//// ? @1:22 `...x` in meta is something else
//// own
export const meta = {...x}
//// meta: a method
//// ? @1:22 in meta is something else
//// own
export const meta = {name() { return "a" }}
//// meta: a shorthand
//// ? @1:22 `name` in meta is something else
//// own
export const meta = {name}
//// meta: a computed key
//// ? @1:22 in meta is something else
//// own
export const meta = {["name"]: "a"}
//// meta: a getter
//// ? @1:22 in meta is something else
//// own
export const meta = {get name() { return 1 }}
//// meta: its prototype
//// ? @1:22 meta cannot have __proto__
//// own
export const meta = {__proto__: {name: "a"}}
//// meta: a key twice
//// ? @1:33 meta has name twice
//// own
export const meta = {name: "a", name: "b", description: "c"}
//// meta: undefined
//// ? @3:16 `undefined` in meta.description
//// own
export const meta = {
  name: "a",
  description: undefined,
}
//// meta: a regular expression
//// ? @1:57 is something else
//// own
export const meta = {name: "a", description: "b", args: /x/}
//// meta: a number without end
//// ? @1:65 meta cannot have the number 1e999
//// own
export const meta = {name: "a", description: "b", args: {least: 1e999}}
//// meta: a bigint
//// ? @1:65 meta cannot have the number 10n
//// own
export const meta = {name: "a", description: "b", args: {least: 10n}}
//// meta: phases of texts
//// ? @1:59 meta.phases is a list of objects with a title
//// own
export const meta = {name: "a", description: "b", phases: ["Search"]}
//// meta: phases that are none
//// ? @1:59 meta.phases must be a list
//// own
export const meta = {name: "a", description: "b", phases: {title: "Search"}}
//// meta: a budget below nothing
//// ? @1:59 meta.budget has in usd no number above 0
//// own
export const meta = {name: "a", description: "b", budget: {usd: -1}}
//// meta: a budget of a text
//// ? @1:59 meta.budget must be {usd, tokens}
//// own
export const meta = {name: "a", description: "b", budget: "5"}
//// meta: args of a list
//// ? @1:57 meta.args must be a JSON Schema
//// own
export const meta = {name: "a", description: "b", args: [1]}
//// meta: an unknown key
//// = 1
//// warns meta has 'author', which says nothing here
//// own
export const meta = {name: "a", description: "b", author: "me"}
return 1
//// meta: an unknown key of a phase
//// = 1
//// warns meta.phases has 'titel', which says nothing here
//// own
export const meta = {name: "a", description: "b", phases: [{title: "x", titel: "y"}]}
return 1
//// meta: everything, with escapes, comments and numbers
//// = {"name": "all-of-it", "description": "é\n😀A\u0041", "whenToUse": "when 'it' fits", "phases": [{"title": "One", "detail": "d", "model": "m"}, {"title": "Two"}], "args": {"type": "object", "x": [-1.5, 255, 1000000, null, true, false]}, "budget": {"usd": 2.5, "tokens": 1000}}
//// own
export const meta = { // what it is
  name: "all-of-it",
  "description": "\u00e9\n\u{1F600}\x41\u0041",
  whenToUse: 'when \'it\' fits',
  phases: [{title: `One`, detail: "d", model: "m"}, /* two */ {title: "Two"}],
  args: {type: "object", x: [-1.5, 0xff, 1_000_000, null, true, false]},
  budget: {usd: 2.5, tokens: 1e3},
}
return meta
//// meta: code behind it in the same line
//// = 2
//// own
export const meta = {name: "a", description: "b"}; const two = 1 + 1
return two
//// syntax: an unclosed bracket
//// ? @2:4 this `(` is not closed
log(1
//// syntax: an unclosed block
//// ? @2:11 this `{` is not closed
if (args) { log(1)
//// syntax: a bracket too many
//// ? @2:14 this `}` closes nothing
return {a: 1}}
//// syntax: the wrong bracket
//// ? @2:13 stands where the `[` of line 2 is still open
log([1, 2, 3)]
//// syntax: an unclosed template
//// ? @2:9 is not closed
return `${args
//// syntax: nothing behind an equals sign
//// ? @2:7 something is missing behind it
let x = ;
//// syntax: two names
//// ? @2 does not fit here
return a b
//// syntax: TypeScript, a type of a variable
//// ? @2:7 This looks like TypeScript
const x: string = "a"
//// syntax: TypeScript, a type of a parameter
//// ? @2:12 This looks like TypeScript
function f(a: number) { return a }
//// syntax: TypeScript, an interface
//// ? @2:1 This looks like TypeScript
interface Finding { title: string }
//// syntax: TypeScript, a type
//// ? @2:6 This looks like TypeScript
type Finding = string
//// syntax: TypeScript, as
//// ? @2 This looks like TypeScript
const x = args as Finding
//// syntax: TypeScript, an exclamation mark
//// ? @2 This looks like TypeScript
const x = args!.name
//// syntax: TypeScript, type parameters
//// ? @2 This looks like TypeScript
const f = <T,>(x) => x
//// syntax: a colon in plain JavaScript is no type
//// ? @2:13 does not fit here
if (x) { foo(: 3) }
//// syntax: what only the engine knows
//// ? @3:9 the script is no JavaScript
let a = 1
const a = 2
//// syntax: an octal number, which the grammar allows
//// ? @2 the script is no JavaScript
return 010
//// syntax: markup
//// ? @2 the script is no JavaScript
return <div/>
//// imports: a statement
//// ? @2:1 `import`: a script is one file
import fs from "fs"
//// imports: a call
//// ? @3:19 `import`: a script is one file
log(1)
const {a} = await import("fs")
//// imports: what the module knows
//// ? @2:8 `import.meta`
return import.meta.url
//// imports: require
//// ? @2:12 `require` is not there
const fs = require("fs")
//// imports: a second export
//// ? @2:1 meta alone is exported
export default 1
//// imports: a list of exports
//// ? @3:1 meta alone is exported
const a = 1
export {a}
//// bans: the time of now
//// ? @2:8 `new Date()` without an argument
return new Date().toISOString()
//// bans: the time without brackets
//// ? @2:8 `new Date()` without an argument
return new Date
//// bans: Date as a function
//// ? @2:8 `Date()` is the time of now
return Date()
//// bans: Date.now
//// ? @2:8 `Date.now()` is not there: a script does the same again when it is resumed, so pass it in args
return Date.now()
//// bans: Date["now"]
//// ? @2:8 `Date.now()`
return Date["now"]()
//// bans: Math.random
//// ? @2:8 `Math.random()` is not there
return Math.random()
//// bans: eval
//// ? @2:8 `eval` is not there
return eval("1")
//// bans: Function
//// ? @2:8 `Function()` is not there
return new Function("return 1")()
//// bans: performance
//// ? @2:8 `performance` is not there
return performance.now()
//// bans: WeakRef
//// ? @2:12 `WeakRef` is not there
return new WeakRef({})
//// bans: SharedArrayBuffer
//// ? @2:12 `SharedArrayBuffer` is not there
return new SharedArrayBuffer(1)
//// bans: timers
//// ? @2:26 `setTimeout` is not there: a script has no timers, and agents are awaited
await new Promise((r) => setTimeout(r, 10))
//// bans: fetch
//// ? @2:14 `fetch` is not there: let an agent read it
return await fetch("x")
//// bans: process
//// ? @2:8 `process` is not there
return process.env.HOME
//// bans: in a shorthand
//// ? @2:11 `process` is not there
return ({ process })
//// bans: an option that is none
//// ? @2:19 agent() has no option `lable`: did you mean `label`?
await agent("x", {lable: "y"})
//// bans: an option like no other
//// ? @2:19 agent() has no option `zzz`: it has label, phase
await agent("x", {zzz: 1})
//// bans: names of the script itself are its own
//// = [1, 2, 3, 4, 5]
const fetch = () => 1
function setTimeout() { return 2 }
const {process} = {process: 3}
const f = (require) => require
let found = 0
for (const performance of [5]) found = performance
return [fetch(), setTimeout(), process, f(4), found]
//// bans: properties and texts are no names
//// = ["fetch Date.now() eval", 1, 2]
const it = {fetch: 1, process() { return 2 }}
// new Date() in a comment
return ["fetch Date.now() eval", it.fetch, it.process()]
//// bans: who asks whether it is there
//// = "no"
return typeof fetch === "function" ? await fetch("x") : "no"
//// bans: a date with a time, and what is asked of Function and Math
//// = [1970, true, 2]
return [new Date(0).getUTCFullYear(), (() => 1) instanceof Function, Math.max(1, 2)]
//// text: a mark of the byte order
//// = 1
return 1
