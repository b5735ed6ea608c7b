import { Converter, ReflectionKind } from 'typedoc'

/** A plugin of TypeDoc: an entry is called what one imports, `ashlar/server` and not `lib/server`. */
export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const entry of project.getChildrenByKind(ReflectionKind.Module))
      entry.name = `ashlar/${entry.name}`.replace('/lib', '')
  })
}
