export const meta = {
  name: 'cited-answer',
  description: 'Answer a question about this repository with citations: every sentence names a place that was read and checked',
  whenToUse: 'How does X work, where is Y decided, what depends on Z: when a wrong answer costs more than a slow one.',
  phases: [
    { title: 'Split' },
    { title: 'Read', detail: 'facts with path and line' },
    { title: 'Check', detail: 'each place is opened again' },
    { title: 'Write' },
  ],
}

const question = String(typeof args === 'string' ? args : args?.question ?? '').trim()
if (!question) throw new Error('Say what to find out: /cited-answer QUESTION')

const object = (properties) =>
  ({ type: 'object', properties, required: Object.keys(properties), additionalProperties: false })
const text = { type: 'string' }
const READING = ['Read', 'Grep', 'Glob']
const most = (items, maxItems) => ({ type: 'array', items, maxItems })

phase('Split')
const { parts } = await agent(
  `Question about the repository here: ${question}\n\nLook around shortly. Then name 2 to 5 smaller ` +
  'questions whose answers together answer it, each with where to begin reading.',
  {
    tools: READING, onError: 'throw', retries: 1,
    schema: object({ parts: most(object({ question: text, begin: text }), 5) }),
  },
)

// Each part is checked as soon as it is read.
const checked = await pipeline(
  parts,
  (part) => agent(
    `${part.question}\n\nBegin at ${part.begin}. Answer with facts from the files alone: for each a ` +
    'sentence, the path, the line, and that line word for word. What no file says is no fact.',
    {
      phase: 'Read', label: part.question.slice(0, 60), tools: READING,
      schema: object({
        facts: most(object({ fact: text, path: text, line: { type: 'integer' }, quote: text }), 8),
      }),
    },
  ),
  async (read, part) => {
    const facts = read?.facts ?? []
    if (!facts.length) return { part, facts: [], wrong: 0, silent: read === null }
    const seen = await agent(
      'Open each of these places. Does the quoted line stand there, or within three lines of it, ' +
      'and does it say what the fact says? Give the numbers of those that hold, and nothing ' +
      `else.\n\n${facts.map((each, at) =>
        `${at}. ${each.fact}\n   ${each.path}:${each.line}: ${each.quote}`).join('\n')}`,
      {
        phase: 'Check', label: part.question.slice(0, 60), tools: READING,
        schema: object({ hold: most({ type: 'integer' }, 8) }),
      },
    )
    const held = seen === null ? [] : facts.filter((_, at) => seen.hold.includes(at))
    return { part, facts: held, wrong: facts.length - held.length, silent: seen === null }
  },
)

const facts = checked.flatMap((each) => each?.facts ?? [])
const unanswered = parts.filter((_, at) => !checked[at]?.facts.length).map((part) => part.question)
if (!facts.length) return `Nothing that answers it could be shown in the files: ${question}`

phase('Write')
const marks = facts.map((each) => `(${each.path}:${each.line})`)
const answer = await agent(
  `Write the answer to: ${question}\n\nUse these checked facts and nothing else. Every sentence ends ` +
  'with the place it rests on, exactly as it is given, in brackets. The answer first.\n\n' +
  facts.map((each, at) => `- ${each.fact} ${marks[at]}`).join('\n'),
  { tools: [], retries: 1 },
)
const wrong = checked.reduce((sum, each) => sum + (each?.wrong ?? 0), 0)
return [
  answer ?? facts.map((each, at) => `- ${each.fact} ${marks[at]}`).join('\n'),
  unanswered.length ? `Not shown by any file:\n${unanswered.map((each) => `- ${each}`).join('\n')}` : '',
  wrong ? `Left out: ${wrong} whose places did not say so, or could not be checked.` : '',
].filter(Boolean).join('\n\n')
