// Runs once in the engine, before the script, and is all that stands between the two pipes and it:
// an outbox of messages and a map of the promises that wait. Whatever a script may redefine is
// taken here first. The result is one function that only the worker can reach.
(function () {
  "use strict";
  const FIRST_LINE = 600000; // this text begins there, so that a smaller line is one of the script
  const MOST_UNSETTLED = 4096, MOST_LIST = 4096, MOST_BYTES = 4000000, MOST_SCHEMA = 65536;
  const MOST_LOG = 2000, MOST_LOGS = 1000, CHUNK = 1000000, MOST_TITLE = 200;

  const { stringify, parse } = JSON;
  const { apply, construct, ownKeys } = Reflect;
  const { freeze, keys, defineProperty, getPrototypeOf } = Object;
  const { isArray } = Array;
  const { isInteger, isFinite } = Number;
  const Native = Error, NativeType = TypeError, NativeRange = RangeError, NativePromise = Promise;
  const NativeArray = Array, TextOf = String, RealDate = Date, RealFunction = Function;
  const method = (f) => (self, ...rest) => apply(f, self, rest);
  const find = method(String.prototype.indexOf), cut = method(String.prototype.slice);
  const codeAt = method(String.prototype.charCodeAt), trim = method(String.prototype.trim);
  const join = method(NativeArray.prototype.join), first = method(RegExp.prototype.exec);
  const WIDE = /[^\x00-\x7f]/; // what takes more than one byte in UTF-8
  delete Native.prepareStackTrace;
  defineProperty(Native, "prepareStackTrace", { value: undefined });

  // --- what may not be there: the same script must do the same again ---

  function absent(what, instead) {
    return new NativeType(`${what} is not there in a workflow, where the same script does the same ` +
      `again: ${instead}`);
  }
  const TIME = "pass the time in args", CHANCE = "pass a seed or what varies in args, or number the calls";
  const CODE = "write the code itself";
  function hidden(target, name, value) {
    defineProperty(target, name, { value, writable: true, configurable: true, enumerable: false });
  }
  function FixedDate(...given) {
    if (!new.target) throw absent("Date()", TIME);
    if (given.length === 0) throw absent("new Date() without an argument", TIME);
    return construct(RealDate, given, new.target);
  }
  hidden(FixedDate, "now", () => { throw absent("Date.now()", TIME); });
  hidden(FixedDate, "parse", RealDate.parse);
  hidden(FixedDate, "UTC", RealDate.UTC);
  defineProperty(FixedDate, "name", { value: "Date" });
  defineProperty(FixedDate, "prototype", { value: RealDate.prototype, writable: false });
  hidden(RealDate.prototype, "constructor", FixedDate);
  hidden(globalThis, "Date", FixedDate);
  hidden(Math, "random", () => { throw absent("Math.random()", CHANCE); });
  function shut(made, name) {
    const shim = function () { throw absent(name, CODE); };
    defineProperty(shim, "name", { value: name });
    defineProperty(shim, "prototype", { value: made, writable: false });
    hidden(made, "constructor", shim);
    return shim;
  }
  hidden(globalThis, "Function", shut(RealFunction.prototype, "Function"));
  shut(getPrototypeOf(async function () {}), "AsyncFunction");
  shut(getPrototypeOf(function* () {}), "GeneratorFunction");
  shut(getPrototypeOf(async function* () {}), "AsyncGeneratorFunction");
  hidden(globalThis, "eval", () => { throw absent("eval()", CODE); });
  const GONE = ["performance", "WeakRef", "FinalizationRegistry", "Atomics", "SharedArrayBuffer"];
  for (let i = 0; i < GONE.length; i++) delete globalThis[GONE[i]];

  // --- the outbox ---

  let box = { __proto__: null }, filled = 0, sent = 0, logs = 0, dropped = 0;
  let ended = false, fatal = null;
  const waiting = { __proto__: null };
  let unsettled = 0, last = 0;
  let money = { __proto__: null };

  function push(text) {
    if (!ended) box[filled++] = text;
  }
  function drain() { // the next line, once no job is left
    if (dropped) {
      box[filled++] = stringify({ __proto__: null, t: "log", text: `… and ${dropped} more at once` });
      dropped = 0;
    }
    const parts = { __proto__: null, length: 0 };
    add(parts, '{"out":[');
    for (let size = 0; sent < filled && size < CHUNK; size += parts[parts.length - 1].length) {
      if (size) add(parts, ",");
      add(parts, box[sent]);
      delete box[sent++];
    }
    add(parts, sent < filled ? '],"idle":false}' : '],"idle":true}');
    if (sent === filled) {
      box = { __proto__: null };
      filled = sent = logs = 0;
    }
    return join(parts, "");
  }
  function add(parts, text) { // a sum of texts is a tree to the engine, which the worker cannot take
    parts[parts.length++] = text;
  }
  function bytes(text) { // in UTF-8; a short text needs no counting
    if (text.length * 3 <= MOST_BYTES || text.length > MOST_BYTES) return text.length;
    const wide = first(WIDE, text); // counted one by one, 3 MB are half a second of the processor
    if (wide === null) return text.length;
    let n = wide.index;
    for (let i = n; i < text.length; i++) {
      const code = codeAt(text, i);
      n += code < 0x80 ? 1 : code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 2 : 3;
    }
    return n;
  }
  function fits(text) {
    return text.length * 3 <= MOST_BYTES || bytes(text) <= MOST_BYTES;
  }

  // --- places and words ---

  const NOWHERE = [0, 0];

  function number(text, at) {
    let n = 0, code;
    while ((code = codeAt(text, at)) >= 48 && code <= 57) { n = n * 10 + code - 48; at++; }
    return [n, at];
  }
  function placed(stack, maker) { // line and column of the first frame that is the script's
    let within = NOWHERE;
    for (let at = 0, behind = 0; typeof stack === "string" && (at = find(stack, "<input>:", at)) >= 0;) {
      const line = number(stack, at + 8), column = number(stack, line[1] + 1);
      if (line[0] && line[0] < FIRST_LINE) {
        const wide = line[0] > 1 ? 0 : BEFORE.length;
        const place = [line[0], column[0] > wide ? column[0] - wide : 1];
        const made = maker && find(cut(stack, behind, at), `at ${maker} (`) >= 0;
        if (!made) return place;
        within = place; // where the class of the error stands, which is not where it was thrown
      }
      at = behind = line[1];
    }
    return within;
  }
  function placeOf(error) {
    let maker = "";
    try {
      maker = error.constructor.name;
    } catch {}
    return placed(stackOf(error), typeof maker === "string" ? maker : "");
  }
  function here() {
    const stack = new Native().stack;
    return { __proto__: null, stack: typeof stack === "string" ? stack : "", at: placed(stack) };
  }
  function kind(value) {
    if (value === null) return "null";
    return isArray(value) ? "an array" : typeof value === "object" ? "an object" : `${typeof value}`;
  }
  function wrong(message) { return new NativeType(message); }
  function worded(error) { // never throws, whatever was thrown
    try {
      if (error !== null && typeof error === "object" && typeof error.message === "string") {
        const name = typeof error.name === "string" && error.name ? error.name : "Error";
        return cut(error.message ? `${name}: ${error.message}` : name, 0, 4000);
      }
      return cut(typeof error === "string" ? error : shown(error), 0, 4000);
    } catch {
      return "something that cannot be shown";
    }
  }
  function stackOf(error) {
    try {
      return error !== null && typeof error === "object" && typeof error.stack === "string" ? error.stack : "";
    } catch {
      return "";
    }
  }
  function theirs(stack) { // without the frames of this text
    let text = "";
    for (let at = 0, next; at < stack.length && text.length < 4000; at = next + 1) {
      next = find(stack, "\n", at);
      if (next < 0) next = stack.length;
      const frame = cut(stack, at, next), where = find(frame, "<input>:");
      if (where < 0 || number(frame, where + 8)[0] < FIRST_LINE) text += frame + "\n";
    }
    return text;
  }
  function shown(value) {
    if (typeof value === "string") return value;
    if (value instanceof Native) return worded(value);
    if (value !== null && typeof value === "object") {
      try {
        const text = stringify(value);
        if (typeof text === "string") return text;
      } catch {}
    }
    try {
      return TextOf(value);
    } catch {
      return "something that cannot be shown";
    }
  }

  // --- agent() ---

  const text = (most) => (value, name) => {
    if (typeof value !== "string" || !trim(value)) throw wrong(`${name} is ${kind(value)}: it must be a text`);
    return value.length > most ? cut(value, 0, most - 1) + "…" : value;
  };
  const flag = (value, name) => {
    if (typeof value !== "boolean") throw wrong(`${name} is ${kind(value)}: it must be true or false`);
    return value;
  };
  const whole = (least, most) => (value, name) => {
    if (!isInteger(value) || value < least || value > most) {
      throw wrong(`${name} is ${cut(shown(value), 0, 40)}: it must be a whole number from ${least} to ${most}`);
    }
    return value;
  };
  const names = (value, name) => {
    if (!isArray(value)) throw wrong(`${name} is ${kind(value)}: it must be a list of names of tools`);
    if (value.length > 400) throw new NativeRange(`${name} has ${value.length} names: at most 400`);
    const found = new NativeArray(value.length);
    for (let i = 0; i < value.length; i++) found[i] = text(400)(value[i], `${name}[${i}]`);
    return found;
  };
  const one = (...known) => (value, name) => {
    for (let i = 0; i < known.length; i++) if (value === known[i]) return value;
    throw wrong(`${name} is ${cut(shown(value), 0, 40)}: it can be ${known.join(" or ")}`);
  };
  const minutes = (value, name) => {
    if (typeof value !== "number" || !isFinite(value) || value <= 0 || value > 100000) {
      throw wrong(`${name} is ${cut(shown(value), 0, 40)}: it must be a number above 0`);
    }
    return value;
  };
  const schema = (value, name) => {
    if (kind(value) !== "an object") throw wrong(`${name} is ${kind(value)}: it must be a JSON Schema, an object`);
    const whole = stringify(value);
    if (typeof whole !== "string" || codeAt(whole, 0) !== 123) throw wrong(`${name} is no plain data`);
    if (whole.length > MOST_SCHEMA) throw new NativeRange(`${name} has ${whole.length} characters: at most ${MOST_SCHEMA}`);
    return parse(whole);
  };
  const OPTIONS = {
    __proto__: null, label: text(MOST_TITLE), phase: text(MOST_TITLE), schema, model: text(400),
    effort: text(40), agentType: text(400), tools: names, disallowedTools: names,
    maxTurns: whole(1, 100000), isolation: one("worktree"), mode: text(40), timeoutMinutes: minutes,
    retries: whole(0, 3), onError: one("null", "throw"), detail: flag, fresh: flag,
  };
  const KNOWN = keys(OPTIONS).join(", ");

  function options(given) {
    const found = { __proto__: null };
    if (given === undefined || given === null) return found;
    if (kind(given) !== "an object") throw wrong(`agent(prompt, options): the options are ${kind(given)}, not an object`);
    const written = ownKeys(given);
    for (let i = 0; i < written.length; i++) {
      const name = written[i], value = given[name];
      if (typeof name === "symbol" || value === undefined) continue;
      const read = OPTIONS[name];
      if (!read) throw wrong(`agent() has no option "${cut(name, 0, 60)}": it has ${KNOWN}`);
      if (value !== null) found[name] = read(value, `agent(): the option ${name}`);
    }
    return found;
  }
  function room(env) { // a place for one more call, or the end of the run
    if (unsettled < MOST_UNSETTLED) return;
    if (!fatal) {
      const words = `more than ${MOST_UNSETTLED} calls wait for their answer: await them in parts`;
      fatal = ["calls", words, placed(new Native().stack), new NativeRange(words)];
    }
    throw fatal[3];
  }
  function ask(env, message, how) {
    if (state) return new NativePromise(() => {}); // the script has ended: nobody is asked any more
    const place = here();
    message.id = ++last;
    message.within = env.within;
    if (message.t === "call") message.line = place.at[0];
    const encoded = stringify(message);
    if (!fits(encoded)) {
      throw new NativeRange(`a call of ${encoded.length} characters is too long: at most 4 MB; let the agent read a file`);
    }
    const { promise, resolve, reject } = withResolvers();
    waiting[message.id] = { __proto__: null, resolve, reject, how, stack: place.stack, env };
    unsettled++;
    push(encoded);
    return promise;
  }
  function withResolvers() {
    const it = { __proto__: null };
    it.promise = new NativePromise((resolve, reject) => { it.resolve = resolve; it.reject = reject; });
    return it;
  }
  function agent(env, prompt, given) {
    if (typeof prompt !== "string") {
      throw wrong(`agent(prompt): the prompt is ${kind(prompt)}, not a text; JSON.stringify makes one of data`);
    }
    if (!trim(prompt)) throw wrong("agent(prompt): the prompt is empty");
    const found = options(given);
    room(env);
    const scope = env.scopes[env.scopes.length - 1];
    const phase = found.phase || scope.title;
    return ask(env, { __proto__: null, t: "call", prompt, options: found, phase }, found);
  }
  function failed(entry, failure, name) {
    const error = new Native(failure.message);
    hidden(error, "name", name);
    hidden(error, "kind", failure.kind);
    hidden(error, "stack", entry.stack);
    return error;
  }
  function detailed(settled) {
    const found = { ok: settled.ok, value: settled.ok ? settled.value ?? null : null };
    if (!settled.ok) found.error = settled.error;
    found.agentId = settled.agentId ?? "";
    found.usage = settled.usage ?? {};
    found.cost = settled.costUsd ?? 0;
    if (settled.worktree) found.worktree = settled.worktree;
    return found;
  }
  function settle(message) {
    const entry = waiting[message.id];
    if (message.budget) money = message.budget;
    if (!entry) return;
    delete waiting[message.id];
    unsettled--;
    const error = message.error ?? { kind: "model", message: "the agent failed" };
    if (message.ok === false) {
      message.error = error;
      if (message.throws || entry.how === null) entry.reject(failed(entry, error, entry.how ? "AgentError" : "WorkflowError"));
      else if (entry.how.detail) entry.resolve(detailed(message));
      else if (entry.how.onError === "throw") entry.reject(failed(entry, error, "AgentError"));
      else entry.resolve(null);
    } else entry.resolve(entry.how?.detail ? detailed(message) : message.value ?? null);
  }

  // --- parallel(), pipeline(), phase(), log() ---

  function log(env, ...values) {
    if (logs >= MOST_LOGS) { dropped++; return; }
    logs++;
    let line = "";
    for (let i = 0; i < values.length && line.length <= MOST_LOG; i++) line += (i ? " " : "") + shown(values[i]);
    if (line.length > MOST_LOG) line = cut(line, 0, MOST_LOG - 1) + "…";
    push(stringify({ __proto__: null, t: "log", text: line }));
  }
  function listed(list, who) {
    if (!isArray(list)) throw wrong(`${who}(list): the first argument is ${kind(list)}, not an array; [...it] makes one of a Set`);
    if (list.length > MOST_LIST) {
      throw new NativeRange(`${who}(list): ${list.length} entries; at most ${MOST_LIST}: go through them in parts`);
    }
    const found = new NativeArray(list.length);
    for (let i = 0; i < list.length; i++) found[i] = list[i];
    return found;
  }
  function gaveUp(env, who, index, error) {
    const at = placeOf(error);
    log(env, `${who}: entry ${index} failed${at[0] ? ` in line ${at[0]}` : ""} and is null: ${worded(error)}`);
    return null;
  }
  function parallel(env, list, fn, how) {
    const entries = listed(list, "parallel");
    if (how === undefined && fn !== null && typeof fn === "object") { how = fn; fn = undefined; }
    if (fn !== undefined && fn !== null && typeof fn !== "function") {
      throw wrong(`parallel(list, fn): fn is ${kind(fn)}, not a function`);
    }
    let limit = MOST_LIST;
    if (how !== undefined && how !== null) {
      if (kind(how) !== "an object") throw wrong(`parallel(list, fn, options): the options are ${kind(how)}, not an object`);
      const written = keys(how);
      for (let i = 0; i < written.length; i++) {
        if (written[i] !== "limit") throw wrong(`parallel() has no option "${cut(written[i], 0, 60)}": it has limit`);
      }
      if (how.limit !== undefined && how.limit !== null) limit = whole(1, MOST_LIST)(how.limit, "parallel(): the option limit");
    }
    const results = new NativeArray(entries.length);
    let next = 0;
    async function work() {
      while (next < entries.length) {
        const index = next++, entry = entries[index];
        try {
          results[index] = await (fn ? fn(entry, index) : typeof entry === "function" ? entry() : entry);
          if (results[index] === undefined) results[index] = null;
        } catch (error) {
          results[index] = gaveUp(env, "parallel", index, error);
        }
      }
    }
    return gathered(work, limit < entries.length ? limit : entries.length, results);
  }
  async function gathered(work, many, results) {
    const all = new NativeArray(many);
    for (let i = 0; i < many; i++) all[i] = work();
    for (let i = 0; i < many; i++) await all[i];
    return results;
  }
  function pipeline(env, items, ...stages) {
    const entries = listed(items, "pipeline");
    for (let i = 0; i < stages.length; i++) {
      if (typeof stages[i] !== "function") throw wrong(`pipeline(items, ...stages): stage ${i + 1} is ${kind(stages[i])}, not a function`);
    }
    const results = new NativeArray(entries.length);
    let next = 0;
    async function work() {
      const index = next++, item = entries[index];
      let value = item, stage = 0;
      try {
        for (; stage < stages.length; stage++) value = await stages[stage](value, item, index);
        results[index] = value === undefined ? null : value;
      } catch (error) {
        results[index] = gaveUp(env, `pipeline, stage ${stage + 1}`, index, error);
      }
    }
    return gathered(work, entries.length, results);
  }
  function phase(env, title, fn) {
    const name = text(MOST_TITLE)(title, "phase(title): the title");
    if (fn !== undefined && fn !== null && typeof fn !== "function") throw wrong(`phase(title, fn): fn is ${kind(fn)}, not a function`);
    if (logs < MOST_LOGS) {
      logs++;
      push(stringify({ __proto__: null, t: "phase", title: name }));
    } else dropped++;
    if (!fn) {
      env.scopes[env.scopes.length - 1].title = name;
      return undefined;
    }
    const scope = { __proto__: null, title: name };
    env.scopes[env.scopes.length] = scope;
    return scoped(env, scope, fn);
  }
  async function scoped(env, scope, fn) {
    try {
      return await fn();
    } finally {
      const left = [];
      for (let i = 0; i < env.scopes.length; i++) if (env.scopes[i] !== scope) left[left.length] = env.scopes[i];
      env.scopes = left;
    }
  }

  // --- workflow(): another script, inline ---

  function workflow(env, which, args) {
    const message = { __proto__: null, t: "nested" };
    if (typeof which === "string" && trim(which)) message.name = which;
    else if (kind(which) === "an object" && typeof which.scriptPath === "string") message.scriptPath = which.scriptPath;
    else throw wrong(`workflow(name | {scriptPath}, args): the first argument is ${kind(which)}`);
    if (args !== undefined) message.args = args;
    room(env);
    return ask(env, message, null);
  }
  function inline(id, make, meta, args) { // `make` is compiled from text that was checked
    const entry = waiting[id];
    if (!entry || entry.how !== null) return;
    delete waiting[id];
    unsettled--;
    const scope = entry.env.scopes[entry.env.scopes.length - 1];
    const env = { __proto__: null, within: meta.name, scopes: [{ __proto__: null, title: scope.title }] };
    nested(env, make, meta, args, entry);
  }
  function broken(message, words) { // it could not be compiled
    const entry = waiting[message.id];
    if (!entry || entry.how !== null) return;
    delete waiting[message.id];
    unsettled--;
    refuse(entry, message.meta.name, NOWHERE, words);
  }
  async function nested(env, make, meta, args, entry) {
    try {
      const whole = stringify(await globals(env, make, meta, args, undefined)());
      entry.resolve(whole === undefined ? null : parse(whole));
    } catch (error) {
      refuse(entry, meta.name, placeOf(error), worded(error));
    }
  }
  function refuse(entry, name, at, words) {
    const where = at[0] ? ` in its line ${at[0]}` : "";
    entry.reject(failed(entry, { kind: "workflow", message: `the workflow ${name} failed${where}: ${words}` }, "WorkflowError"));
  }

  // --- the run ---

  function frozen(value) {
    if (value !== null && typeof value === "object") {
      const all = ownKeys(value);
      for (let i = 0; i < all.length; i++) frozen(value[all[i]]);
      freeze(value);
    }
    return value;
  }
  function amount(usd, tokens) { // in a sum it counts as tokens
    const found = { usd, tokens };
    hidden(found, "valueOf", () => tokens);
    return freeze(found);
  }
  const rest = (total, spent) => typeof total !== "number" ? Infinity : total > spent ? total - spent : 0;
  const budget = freeze({
    get total() {
      const usd = money.totalUsd ?? null, tokens = money.totalTokens ?? null;
      return usd === null && tokens === null ? null : amount(usd, tokens);
    },
    spent: () => amount(money.spentUsd ?? 0, money.spentTokens ?? 0),
    remaining: () => amount(rest(money.totalUsd, money.spentUsd ?? 0), rest(money.totalTokens, money.spentTokens ?? 0)),
    agents: freeze({
      get used() { return money.agentsUsed ?? 0; },
      get left() { return money.agentsLeft ?? 0; },
    }),
  });
  function bound(f, env) { return (...given) => f(env, ...given); }
  function globals(env, make, meta, args, child) {
    const say = bound(log, env);
    const console = freeze({ log: say, info: say, warn: say, error: say, debug: say });
    return make(
      bound(agent, env), bound(parallel, env), bound(pipeline, env), bound(phase, env), say,
      child, args, meta, budget, console,
    );
  }
  function end(kind, message, at, stack, value) {
    const found = { __proto__: null, t: "end", kind, message: cut(message, 0, 4000), line: at[0], column: at[1] };
    if (stack) found.stack = theirs(stack);
    let text = stringify(found);
    if (value !== undefined) text = cut(text, 0, -1) + `,"value":${value}}`;
    push(text);
    ended = true;
  }
  let state = 0, result; // 1: returned, 2: threw; what it means is said once no job is left
  async function run(make, meta, args) {
    const env = { __proto__: null, within: "", scopes: [{ __proto__: null, title: "" }] };
    try {
      result = await globals(env, make, meta, args, bound(workflow, env))();
      state = 1;
    } catch (error) {
      result = error;
      state = 2;
    }
  }
  function conclude() {
    if (ended) return;
    if (fatal) {
      box = { __proto__: null };
      filled = sent = dropped = 0;
      end(fatal[0], fatal[1], fatal[2], "");
    } else if (state === 1) returned(result);
    else if (state === 2) threw(result);
    else if (!unsettled) {
      end("deadlock", "the script waits for a promise that nothing settles any more: no call is under way", NOWHERE, "");
    }
  }
  function returned(value) {
    let text;
    try {
      text = stringify(value);
    } catch (error) {
      return end("error", `the returned value is no plain data: ${worded(error)}`, NOWHERE, "");
    }
    if (text !== undefined && !fits(text)) {
      return end("line", `the returned value has ${text.length} characters: at most 4 MB go through, so return less`, NOWHERE, "");
    }
    end("", "", NOWHERE, "", text);
  }
  function threw(error) {
    const words = worded(error);
    const kind = words === "InternalError: out of memory" ? "memory"
      : words === "RangeError: Maximum call stack size exceeded" ? "stack" : "error";
    end(kind, words, placeOf(error), stackOf(error));
  }

  const BEFORE = "(function(agent,parallel,pipeline,phase,log,workflow,args,meta,budget,console)" +
    '{"use strict";return(async()=>{';
  return function host(what, given, made) {
    if (what === "drain") {
      conclude();
      return drain();
    }
    if (what === "shift") return BEFORE.length;
    const message = parse(given);
    if (what === "source") return join({ __proto__: null, 0: BEFORE, 1: message.body, 2: "\n})})", length: 3 }, "");
    if (what === "settled") settle(message);
    else if (what === "inlined") inline(message.id, made, frozen(message.meta), frozen(message.args));
    else if (what === "broken") broken(message, made);
    else if (what === "begin") {
      money = message.budget ?? money;
      run(made, frozen(message.meta), frozen(message.args));
    }
    return undefined;
  };
})()
