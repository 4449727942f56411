// The whole story as a client on the protocol's TypeScript SDK: argv are the program, the project
// and an image; what came of it is printed as one JSON object.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk/unstable";

const [command, project, image] = process.argv.slice(2);
const { agent, client } = acp.methods;
const report = { asked: [], cancelled: {} };
let child, choice, updates, news, asking;

function begin() {
  [choice, updates, asking] = [() => "once", [], 0];
  let tell;
  const renew = () => (news = new Promise((done) => (tell = done)));
  const heard = () => [tell, renew()][0]();
  renew();
  child = spawn(command, ["acp"], { stdio: ["pipe", "pipe", "inherit"], cwd: project });
  const app = acp.client({ name: "story" })
    .onRequest(client.session.requestPermission, async ({ params }) => {
      report.asked.push(params.toolCall.title);
      asking++;
      heard();
      return { outcome: await choice() };
    })
    .onNotification(client.session.update, ({ params }) => {
      updates.push(params);
      heard();
    });
  const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  return (does) => app.connectWith(stream, async (ctx) => {
    const hello = { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} };
    await ctx.request(agent.initialize, hello);
    return await does(ctx);
  });
}

const picks = (id) => async () => ({ outcome: "selected", optionId: id });
const never = () => new Promise(() => {});
const of = (id) => updates.filter((each) => each.sessionId === id).map((each) => each.update);
const said = (id) => of(id).filter((each) => each.sessionUpdate === "agent_message_chunk")
  .map((each) => each.content.text).join("");
const shown = (id) => JSON.stringify([said(id), of(id)
  .filter((each) => each.sessionUpdate.startsWith("tool_call") || each.sessionUpdate === "plan")]);
async function until(found) {
  while (!found()) await news;
}

const at = { cwd: project, mcpServers: [] };
const text = (words) => ({ type: "text", text: words });
const opened = async (ctx) => (await ctx.request(agent.session.new, at)).sessionId;
const turn = async (ctx, sessionId, ...prompt) =>
  (await ctx.request(agent.session.prompt, { sessionId, prompt })).stopReason;
const cancel = (ctx, sessionId) => ctx.notify(agent.session.cancel, { sessionId });

let session, live;
await begin()(async (ctx) => {
  choice = picks("once");
  session = await opened(ctx);
  const picture = { type: "image", data: image, mimeType: "image/png" };
  report.end = await turn(ctx, session, text("STORY"), picture);
  choice = picks("no");
  report.refused = await turn(ctx, session, text("again"));
  report.plan = of(session).filter((each) => each.sessionUpdate === "plan").length;
  live = shown(session);
  child.kill("SIGKILL");
}).catch(() => undefined);

await begin()(async (ctx) => {
  choice = picks("once");
  await ctx.request(agent.session.load, { ...at, sessionId: session });
  report.same = shown(session) === live;
  report.images = of(session).filter((each) => each.sessionUpdate === "user_message_chunk"
    && each.content.type === "image").length;
  const copy = (await ctx.request(agent.session.fork, { ...at, sessionId: session })).sessionId;
  report.fork = [await turn(ctx, copy, text("and now?")), said(copy), copy !== session];
  await ctx.request(agent.session.setMode, { sessionId: copy, modeId: "plan" });
  report.sessions = (await ctx.request(agent.session.list, { cwd: project })).sessions.length;
  await ctx.request(agent.session.close, { sessionId: copy });

  const left = await opened(ctx);
  const streams = turn(ctx, left, text("LEFT"));
  await until(() => said(left));
  const right = await opened(ctx);
  report.right = [await turn(ctx, right, text("RIGHT")), said(right)];
  const waits = turn(ctx, left, text("queued"));
  await cancel(ctx, left);
  report.cancelled.streaming = await streams;
  report.cancelled.queued = await waits;

  const fresh = await opened(ctx);
  const early = turn(ctx, fresh, text("EARLY"));
  await cancel(ctx, fresh);
  report.cancelled.before = await early;

  const before = asking;
  choice = never;
  const third = await opened(ctx);
  const asks = turn(ctx, third, text("ASKS"));
  await until(() => asking > before);
  await cancel(ctx, third);
  report.cancelled.asking = await asks;

  choice = picks("once");
  const other = await opened(ctx);
  const runs = turn(ctx, other, text("RUNS"));
  const printed = (each) => each.sessionUpdate === "tool_call_update" && each.content;
  await until(() => JSON.stringify(of(other).filter(printed)).includes("```\\nup"));
  await cancel(ctx, other);
  report.cancelled.running = await runs;
  report.after = [await turn(ctx, other, text("on")), said(other).endsWith("Still here.")];
});
console.log(JSON.stringify(report));
child.kill();
