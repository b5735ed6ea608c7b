import { dirname, join } from 'node:path'
import ts from 'typescript'

/** Declarations of packages are read once, whichever project asks: they are most of what a compiler reads. */
const sources = new Map<string, ts.SourceFile | undefined>()

/** Compiles a project as its tsconfig.json says, and returns what the compiler finds wrong, a line each. A compiler that follows goes on from there. */
export function compiledProject(folder: string): readonly string[] {
  const config = join(folder, 'tsconfig.json')
  const { config: json } = ts.readConfigFile(config, ts.sys.readFile) as { config: unknown }
  const { options, fileNames, errors } = ts.parseJsonConfigFileContent(json, ts.sys, dirname(config))
  const host = ts.createIncrementalCompilerHost(options)
  const read = host.getSourceFile.bind(host)
  host.getSourceFile = (name, version, ...rest) => {
    if (name.startsWith(`${folder}/`) && !name.includes('/node_modules/')) return read(name, version, ...rest)
    const key = `${name} ${JSON.stringify(version)}`
    if (!sources.has(key)) sources.set(key, read(name, version, ...rest))
    return sources.get(key)
  }
  const program = ts.createIncrementalProgram({ rootNames: fileNames, options, host })
  const found = [
    ...program.getOptionsDiagnostics(),
    ...program.getSyntacticDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...program.getSemanticDiagnostics(),
  ]
  const { diagnostics } = program.emit()
  return [...errors, ...found, ...diagnostics].map((one) =>
    ts.formatDiagnostic(one, {
      getCanonicalFileName: (name) => name,
      getCurrentDirectory: () => folder,
      getNewLine: () => '',
    }),
  )
}
