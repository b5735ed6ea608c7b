import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join, normalize } from 'node:path'
import { compiled, root } from '../root.js'

/** The import map for the packages, because the browser loads them without a bundler. */
const IMPORTS = Object.fromEntries([
  ['@connectrpc/connect-web', '/modules/@connectrpc/connect-web/dist/esm/index.js'],
  ['@connectrpc/connect', '/modules/@connectrpc/connect/dist/esm/index.js'],
  ...['protocol', 'protocol-connect', 'protocol-grpc', 'protocol-grpc-web'].map((name) => [
    `@connectrpc/connect/${name}`,
    `/modules/@connectrpc/connect/dist/esm/${name}/index.js`,
  ]),
  ['@bufbuild/protobuf', '/modules/@bufbuild/protobuf/dist/esm/index.js'],
  ...['codegenv1', 'codegenv2', 'reflect', 'wire', 'wkt'].map((name) => [
    `@bufbuild/protobuf/${name}`,
    `/modules/@bufbuild/protobuf/dist/esm/${name}/index.js`,
  ]),
  ['ashlar-annotations/', '/modules/ashlar-annotations/gen/'],
]) as Readonly<Record<string, string>>

/** Adds the import map to a page. */
export const withPackages = (html: string): string =>
  html.replace(
    '<script',
    `<script type="importmap">${JSON.stringify({ imports: IMPORTS })}</script>\n<script`,
  )

export const pageFor = (script: string): string =>
  withPackages(`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Widgets</title>
    <link rel="icon" href="data:," />
    <style>body { font: 16px sans-serif; margin: 2em } td, th { padding: .2em 1em; text-align: left }</style>
  </head>
  <body>
    <h1>Widgets</h1>
    <table><thead><tr><th>name<th>size<th>etag</thead><tbody id="rows"></tbody></table>
    <p>stream: <output id="stream"></output></p>
    <p>error: <output id="error"></output></p>
    <p id="state"></p>
    <script type="module">${script}</script>
  </body>
</html>
`)

/** Starts a web server for a front end: its pages and the modules that they import. */
export async function startFrontEnd(
  pages: ReadonlyMap<string, string>,
  modules: (path: string) => string | undefined = () => undefined,
): Promise<{ readonly origin: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const page = pages.get(pathname)
    if (page !== undefined) {
      response.setHeader('content-type', 'text/html').end(page)
      return
    }
    const script = modules(pathname)
    if (script !== undefined) {
      response.setHeader('content-type', 'text/javascript').end(script)
      return
    }
    const folders = { '/modules/': join(root, 'node_modules'), '/compiled/': compiled }
    for (const [prefix, folder] of Object.entries(folders))
      if (pathname.startsWith(prefix)) {
        readFile(join(folder, normalize(pathname.slice(prefix.length - 1)))).then(
          (bytes) => response.setHeader('content-type', 'text/javascript').end(bytes),
          () => response.writeHead(404).end(),
        )
        return
      }
    response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}
