/** Returns a Node.js flag that hides all packages whose name begins with `beginning`. */
export const withoutPackages = (beginning: string): string => {
  const resolve = `export async function resolve(name, context, next) {
    if (name.startsWith('${beginning}')) throw Object.assign(new Error('not found'), { code: 'ERR_MODULE_NOT_FOUND' })
    return next(name, context)
  }`
  const hook = `import { register } from 'node:module'; register(${JSON.stringify(moduleOf(resolve))})`
  return `--import=${moduleOf(hook)}`
}

const moduleOf = (text: string): string => `data:text/javascript,${encodeURIComponent(text)}`
