/** The settings that `nest new` of Nest 11 writes, with the types that its tests need. */
export const NEST_11 = {
  compilerOptions: {
    ...{ module: 'commonjs', target: 'ES2022', outDir: 'dist', strict: true, skipLibCheck: true },
    ...{ emitDecoratorMetadata: true, experimentalDecorators: true, esModuleInterop: true },
    types: ['node', 'jest'],
  },
  include: ['src'],
}
/** Returns the settings that `nest new` of Nest 12 writes. */
export const nest12 = (types: string) => ({
  compilerOptions: {
    ...{
      module: 'nodenext',
      moduleResolution: 'nodenext',
      target: 'ES2023',
      outDir: './dist',
      rootDir: './src',
    },
    ...{ strict: true, strictPropertyInitialization: false, skipLibCheck: true, isolatedModules: true },
    ...{ emitDecoratorMetadata: true, experimentalDecorators: true, esModuleInterop: true, sourceMap: true },
    types: ['node', types],
  },
  include: ['src'],
})
export const SWC = {
  jsc: {
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
    target: 'es2022',
  },
  module: { type: 'commonjs' },
}
export const BABEL = {
  presets: [['@babel/preset-env', { targets: { node: '20' } }]],
  plugins: [
    'babel-plugin-transform-typescript-metadata',
    // This plugin runs before the decorators plugin, which would initialize fields that are declared with
    // `!`.
    '@babel/plugin-transform-typescript',
    ['@babel/plugin-proposal-decorators', { version: 'legacy' }],
    ['@babel/plugin-transform-class-properties', { loose: true }],
    'babel-plugin-parameter-decorator',
  ],
}
export const jest = (transform: unknown) => ({
  ...{ rootDir: 'src', testTimeout: 60_000, moduleFileExtensions: ['js', 'json', 'ts'] },
  ...{ testRegex: '.*\\.test\\.ts$', transform: { '^.+\\.ts$': transform } },
})

export const TSC = 'node_modules/typescript/bin/tsc'
export const JEST = 'node_modules/jest/bin/jest.js'
/** The flags of Jest. The path of the configuration follows them. */
export const JEST_FLAGS = ['--no-cache', '-i', '-c'] as const
