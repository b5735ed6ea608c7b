import { packedInto } from './packed-package.js'

/** `node dist/test/support/projects/pack.js FOLDER`: packs what `npm publish` would publish into a folder. */
const [folder = ''] = process.argv.slice(2)
if (folder === '') throw new TypeError('name a folder for the packages')
for (const { filename } of Object.values(packedInto(folder))) console.log(filename)
