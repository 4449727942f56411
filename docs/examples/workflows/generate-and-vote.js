export const meta = {
  name: 'generate-and-vote',
  description: 'Make several independent solutions to one task, have judges compare them in pairs, and take the best',
  whenToUse: 'A design, a text, a name, a tricky function: where a second and third try is cheaper than a bad first one.',
  phases: [
    { title: 'Generate', detail: 'independent of each other' },
    { title: 'Vote', detail: 'every pair, in both orders' },
    { title: 'Improve' },
  ],
  args: {
    type: 'object',
    properties: {
      task: { type: 'string' },
      criteria: { type: 'string', description: 'What makes one better than another' },
      candidates: { type: 'integer', minimum: 2, maximum: 6 },
    },
    required: ['task'],
    additionalProperties: false,
  },
}

const { task, candidates = 3 } = args
const criteria = args.criteria || 'correct first, then simple, then easy to change later'
const ways = [
  'Take the simplest way that could work.',
  'Take the way that an expert of the field would take.',
  'Begin from what could go wrong, and rule it out by design.',
  'Take the way that needs the least code or the fewest words.',
  'Question the task: solve what is really wanted.',
  'Take a way that most people would not think of.',
]

phase('Generate')
const made = await parallel(ways.slice(0, candidates), (way, at) => agent(
  `${task}\n\n${way}\n\nYou may read the project here; change no file. Your last message is your ` +
  'solution, whole and ready to use, with three sentences on why.',
  { label: `solution ${at + 1}`, tools: ['Read', 'Grep', 'Glob'], retries: 1 },
))
const entries = made.map((value, at) => ({ at, value, wins: 0 })).filter((each) => each.value !== null)
if (!entries.length) return 'No solution was made: no agent answered.'
if (entries.length === 1) return entries[0].value

// Who is read first has an advantage, so every pair is judged in both orders.
phase('Vote')
const pairs = entries.flatMap((first) =>
  entries.filter((second) => second !== first).map((second) => [first, second]))
const votes = await parallel(pairs, ([first, second]) => agent(
  `Two solutions to this task:\n\n${task}\n\nWhat counts: ${criteria}.\n\n<solution name="A">\n` +
  `${first.value}\n</solution>\n\n<solution name="B">\n${second.value}\n</solution>\n\nWhich is ` +
  'better? Their own praise counts nothing. Name the worst fault of each.',
  {
    label: `${first.at + 1} or ${second.at + 1}`, tools: [],
    schema: {
      type: 'object',
      properties: { better: { enum: ['A', 'B'] }, faults: { type: 'string' } },
      required: ['better', 'faults'],
      additionalProperties: false,
    },
  },
))
const faults = new Map(entries.map((each) => [each.at, []]))
votes.forEach((vote, nth) => {
  if (!vote) return // who gives no answer abstains
  const [first, second] = pairs[nth]
  ;(vote.better === 'A' ? first : second).wins += 1
  for (const each of [first, second]) faults.get(each.at).push(vote.faults)
})
entries.sort((a, b) => b.wins - a.wins || a.at - b.at)
const [best] = entries
log(entries.map((each) => `solution ${each.at + 1}: ${each.wins}`).join(', '))

phase('Improve')
const better = await agent(
  `${task}\n\nThis solution was judged the best of ${entries.length}:\n\n${best.value}\n\nJudges ` +
  `named these faults, of it and of others:\n${faults.get(best.at).map((each) => `- ${each}`).join('\n')}` +
  '\n\nMend what is really wrong with it and nothing else. Your last message is the whole solution.',
  { label: 'last hand', tools: ['Read', 'Grep', 'Glob'] },
)
const count = votes.filter(Boolean).length
return `${better ?? best.value}\n\n(Solution ${best.at + 1} of ${entries.length}, ` +
  `${best.wins} of ${count} votes.)`
