export const meta = {
  name: 'review-diff',
  description: 'Review a diff from several angles; every finding has to survive two attempts to refute it',
  whenToUse: 'Before a change is merged, when one look at it is not enough.',
  phases: [
    { title: 'Look', detail: 'one reviewer an angle' },
    { title: 'Refute', detail: 'two sceptics a finding' },
  ],
  args: {
    type: 'object',
    properties: {
      range: { type: 'string', description: 'What git diff gets, such as main...HEAD' },
      angles: { type: 'array', items: { type: 'string' }, description: 'In place of the usual ones' },
    },
    additionalProperties: false,
  },
}

const range = args?.range || 'HEAD'
const angles = args?.angles ?? [
  'Correctness: wrong results, missed cases, off by one, wrong error handling',
  'Security: input of strangers, injection, paths, secrets, permissions',
  'Concurrency and resources: races, leaks, locks, what is never closed',
  'Compatibility: callers, stored data, settings, public names that change their meaning',
  'Tests: what the change does that no test would notice breaking',
]
const READING = ['Read', 'Grep', 'Glob', 'Bash']
const finding = {
  type: 'object',
  properties: {
    file: { type: 'string' },
    line: { type: 'integer' },
    severity: { enum: ['high', 'medium', 'low'] },
    problem: { type: 'string', description: 'One sentence: what goes wrong, and when' },
    evidence: { type: 'string', description: 'The code, or the run, that shows it' },
  },
  required: ['file', 'line', 'severity', 'problem', 'evidence'],
  additionalProperties: false,
}

phase('Look')
const looked = await parallel(angles, (angle) => agent(
  `Review the change that \`git diff ${range}\` shows, from one angle only:\n${angle}\n\nRead the ` +
  'code around it, not the diff alone. Report what is wrong with the change itself, not what was ' +
  'wrong before it, and nothing of taste. Finding nothing is a good answer. Change no file.',
  {
    label: angle.split(':')[0], tools: READING, retries: 1,
    schema: {
      type: 'object',
      properties: { findings: { type: 'array', items: finding, maxItems: 10 } },
      required: ['findings'],
      additionalProperties: false,
    },
  },
))
const missing = angles.filter((_, at) => looked[at] === null).map((angle) => angle.split(':')[0])

// Two angles may see the same thing: by place it is refuted once.
const found = new Map()
for (const each of looked.flatMap((one) => one?.findings ?? [])) {
  const key = `${each.file}:${each.line}`
  if (!found.has(key)) found.set(key, each)
}
log(`${found.size} findings of ${angles.length - missing.length} reviewers`)

phase('Refute')
const questions = [
  'Read the code that is named. Does it do what the finding says? Look for what prevents it: a ' +
    'check before it, a type, a caller that never passes that.',
  'Try to make it happen: a test, a small script, a command. Leave no file behind.',
]
const kept = (await pipeline([...found.values()], async (each) => {
  const votes = await parallel(questions, (question) => agent(
    `Somebody says of the change in \`git diff ${range}\`:\n\n${each.file}:${each.line}: ` +
    `${each.problem}\nEvidence: ${each.evidence}\n\nTry to refute it. ${question}`,
    {
      phase: 'Refute', label: `${each.file}:${each.line}`, tools: READING,
      schema: {
        type: 'object',
        properties: { refuted: { type: 'boolean' }, reason: { type: 'string' } },
        required: ['refuted', 'reason'],
        additionalProperties: false,
      },
    },
  ))
  const said = votes.filter(Boolean)
  return { ...each, refuted: said.some((vote) => vote.refuted), checked: said.length > 0 }
})).filter((each) => each && !each.refuted)

const rank = { high: 0, medium: 1, low: 2 }
kept.sort((a, b) => rank[a.severity] - rank[b.severity])
const lines = kept.map((each) =>
  `- **${each.severity}** ${each.file}:${each.line} ${each.problem}` +
  (each.checked ? '' : ' (nobody could check it)'))
return [
  lines.length ? lines.join('\n') : 'Nothing that was found withstood the attempts to refute it.',
  `${found.size} findings, ${found.size - kept.length} refuted.`,
  missing.length ? `No answer from: ${missing.join(', ')}.` : '',
].filter(Boolean).join('\n\n')
