import { widgetsDataSource } from './examples/widgets/data-source.js'

/** The example's DataSource, for `typeorm -d dist/ormconfig.js schema:log` and the like. */
export const dataSource = widgetsDataSource(process.env['WIDGETS_DATABASE'] ?? ':memory:')
