/** Aligns the columns of Markdown tables, as formatters do. Template values have different lengths. */
export const alignedTables = (markdown: string): string =>
  markdown.replaceAll(/(?:^\|.*\|\n)+/gm, (table) => {
    const rows = table
      .trimEnd()
      .split('\n')
      .map((line) =>
        line
          .slice(1, -1)
          .split('|')
          .map((cell) => cell.trim()),
      )
    const widths = (rows[0] ?? []).map((_, column) =>
      Math.max(...rows.map((row) => (isRule(row) ? 3 : (row[column]?.length ?? 0)))),
    )
    return rows
      .map((row) => {
        const fill = isRule(row) ? '-' : ' '
        return `| ${widths.map((width, column) => (isRule(row) ? '' : (row[column] ?? '')).padEnd(width, fill)).join(' | ')} |\n`
      })
      .join('')
  })

/** Returns true for the line between a table's head and body. */
const isRule = (row: readonly string[]): boolean => row.every((cell) => /^-+$/.test(cell))
