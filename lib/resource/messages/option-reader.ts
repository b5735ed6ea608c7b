/**
 * A reader of an option that decodes it once for each descriptor. `getOption` decodes it again every time,
 * and the start of a server asks several times for each method and field.
 */
export const optionReader = <Desc extends object, T>(read: (desc: Desc) => T): ((desc: Desc) => T) => {
  const known = new WeakMap<Desc, { readonly value: T }>()
  return (desc) => {
    let entry = known.get(desc)
    if (entry === undefined) known.set(desc, (entry = { value: read(desc) }))
    return entry.value
  }
}
