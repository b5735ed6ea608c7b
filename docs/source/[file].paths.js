import { readdirSync, readFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

/** Files of the project that pages lead to: what changed, security, and the examples. */
const files = [
  ...['CHANGELOG.md', 'SECURITY.md', 'CONTRIBUTING.md'],
  ...['orders', 'library', 'widgets'].flatMap((example) =>
    readdirSync(join(root, 'examples', example))
      .filter((name) => /\.(ts|proto)$/.test(name))
      .map((name) => `examples/${example}/${name}`),
  ),
]

const contentOf = (file) => {
  const text = readFileSync(join(root, file), 'utf8')
  if (file.endsWith('.md'))
    return text.replaceAll(/\]\(docs\/([^)]*)\)/g, '](/$1)').replaceAll('/README.md)', '/)')
  return `# ${file}\n\n\`\`\`\`${extname(file).slice(1)}\n${text}\`\`\`\`\n`
}

export default {
  paths: () =>
    files.map((file) => ({ params: { file: file.replace(/\.md$/, '') }, content: contentOf(file) })),
}
