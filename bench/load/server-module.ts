/** The module that `?server=` of a side's own URL names, of this folder tree or of the peers, which are no part of the build. */
export function serverOf(side: string): URL {
  const name = new URL(side).searchParams.get('server') ?? ''
  return name.endsWith('.mjs')
    ? new URL(`../../../bench/peers/${name}`, import.meta.url)
    : new URL(`../sides/${name}.js`, import.meta.url)
}
