export const meta = {
  name: 'migrate-call',
  description: 'Move every use of one call to another across the repository, each file in a work tree of its own',
  whenToUse: 'A renamed or replaced function with more uses than fit one conversation.',
  phases: [
    { title: 'Find' },
    { title: 'Migrate', detail: 'a work tree for each file' },
    { title: 'Check', detail: 'somebody else reads the diff' },
  ],
  args: {
    type: 'object',
    properties: {
      from: { type: 'string', description: 'The call as it is used today' },
      to: { type: 'string', description: 'What stands in its place, with an example' },
      test: { type: 'string', description: 'The command that tests one file or all' },
      only: { type: 'string', description: 'A folder or pattern to stay in' },
    },
    required: ['from', 'to'],
    additionalProperties: false,
  },
}

const { from, to, test = '', only = '' } = args

phase('Find')
const listed = await agent(
  `List every file of this repository that uses ${from}${only ? `, in ${only} alone` : ''}: calls, ` +
  'imports, mentions in documentation. Use Grep, then look at each hit: the same name may be ' +
  'something else. Paths from the root, none of generated or vendored code, no definition of it.',
  {
    tools: ['Grep', 'Glob', 'Read'], onError: 'throw', retries: 1,
    schema: {
      type: 'object',
      properties: { files: { type: 'array', items: { type: 'string' }, maxItems: 500 } },
      required: ['files'],
      additionalProperties: false,
    },
  },
)
const files = [...new Set(listed.files)]
if (!files.length) return `Nothing uses ${from}.`
log(`${files.length} files use ${from}`)

// A file at a time from the change to its check: nobody waits for the slowest one.
const done = await pipeline(
  files,
  (file) => agent(
    `In ${file}, and in no other file, replace every use of\n\n${from}\n\nby\n\n${to}\n\nKeep what ` +
    'it does, imports and comments right. If a use cannot be replaced without changing what the ' +
    `code does, leave it and say why.${test ? ` Then run: ${test}` : ''} Commit what you changed ` +
    `with the message "Migrate ${file}". Your last message says what you did, in three lines.`,
    { phase: 'Migrate', label: file, isolation: 'worktree', detail: true, retries: 1 },
  ),
  async (made, file) => {
    if (!made.ok) return { file, state: 'failed', why: made.error?.message ?? '' }
    if (!made.worktree) return { file, state: 'unchanged', why: made.value }
    const verdict = await agent(
      `In the git work tree ${made.worktree} somebody replaced uses of ${from} by ${to} in ` +
      `${file}. Read the diff of its last commit, and the code around it. Is anything changed that ` +
      'should not be, or any use left without a reason? Change nothing.',
      {
        phase: 'Check', label: file, tools: ['Read', 'Grep', 'Glob', 'Bash'],
        schema: {
          type: 'object',
          properties: { right: { type: 'boolean' }, why: { type: 'string' } },
          required: ['right', 'why'],
          additionalProperties: false,
        },
      },
    )
    const tree = made.worktree
    if (verdict === null) return { file, tree, state: 'unchecked', why: made.value }
    return { file, tree, state: verdict.right ? 'ready' : 'wrong', why: verdict.why }
  },
)

const states = ['ready', 'wrong', 'unchecked', 'unchanged', 'failed']
const rows = files.map((file, at) => done[at] ?? { file, state: 'failed', why: 'no answer' })
const part = (state) => {
  const some = rows.filter((row) => row.state === state)
  if (!some.length) return ''
  const lines = some.map((row) => `- ${row.file}${row.tree ? ` (${row.tree})` : ''}` +
    (state === 'ready' ? '' : `: ${String(row.why).split('\n')[0]}`))
  return `## ${state}: ${some.length}\n\n${lines.join('\n')}`
}
return [
  ...states.map(part).filter(Boolean),
  'Nothing is merged: each work tree has its branch; merge those that are ready.',
].join('\n\n')
