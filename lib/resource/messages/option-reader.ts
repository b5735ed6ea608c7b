/**
 * Returns a reader of an option that decodes it once for each descriptor. `getOption` decodes it every time,
 * and server startup reads the options of each method and field several times.
 */
export const optionReader = <Desc extends object, T>(read: (desc: Desc) => T): ((desc: Desc) => T) => {
  const known = new WeakMap<Desc, { readonly value: T }>()
  return (desc) => {
    let entry = known.get(desc)
    if (entry === undefined) known.set(desc, (entry = { value: read(desc) }))
    return entry.value
  }
}
