import { packedInto } from './packed-package.js'

/** Packs the files that `npm publish` would publish: `node dist/test/support/projects/pack.js FOLDER`. */
const [folder = ''] = process.argv.slice(2)
if (folder === '') throw new TypeError('name a folder for the packages')
for (const { filename } of Object.values(packedInto(folder))) console.log(filename)
