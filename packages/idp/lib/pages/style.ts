import { createHash } from 'node:crypto'

/** The style of all pages. It supports light and dark mode and phones, and needs no scripts. */
export const STYLE = `
:root { color-scheme: light dark; --ground: #f6f7f9; --card: #fff; --ink: #17202b; --soft: #556070; --line: #d5dae1; --accent: #1d5fd1; --on-accent: #fff; --mark: #e4ecfb; --mark-ink: #17438f; --warn: #fdf1d7; --warn-ink: #5c4206; }
@media (prefers-color-scheme: dark) { :root { --ground: #12161c; --card: #1b212a; --ink: #e9edf2; --soft: #a6b1bf; --line: #37414e; --accent: #8bb4ff; --on-accent: #0b1a33; --mark: #233552; --mark-ink: #cfe0ff; --warn: #3a2f14; --warn-ink: #f6dfa6; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
header, main, footer { max-width: 62rem; margin: 0 auto; padding: 1rem; }
header { display: flex; flex-wrap: wrap; gap: .75rem 1rem; align-items: center; justify-content: space-between; }
header p { margin: 0; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: .5rem 0; }
h2 { font-size: 1.05rem; margin: 0; }
.soft { color: var(--soft); }
.small { font-size: .9rem; }
.who { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: center; }
.who form { margin: 0; }
.narrow { max-width: 30rem; }
ul.plain { list-style: none; margin: 1rem 0; padding: 0; display: grid; gap: .75rem; }
.tiles .card { height: 100%; }
ul.tiles { grid-template-columns: repeat(auto-fill, minmax(min(17rem, 100%), 1fr)); }
.card { display: flex; gap: .85rem; align-items: center; width: 100%; min-height: 4.75rem; padding: .85rem; border: 1px solid var(--line); border-radius: .75rem; background: var(--card); color: inherit; text-align: left; text-decoration: none; font: inherit; }
a.card:hover, button.card:hover { border-color: var(--accent); }
.card .text { display: block; min-width: 0; }
.card .text > * { display: block; }
.mark { position: relative; flex: none; display: grid; place-items: center; width: 2.9rem; height: 2.9rem; border-radius: .65rem; overflow: hidden; background: var(--mark); color: var(--mark-ink); font-weight: 650; }
.mark img { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: contain; background: var(--card); }
.round { border-radius: 50%; }
.button { display: inline-block; min-height: 2.75rem; padding: .5rem 1rem; border: 1px solid var(--line); border-radius: .55rem; background: var(--card); color: var(--ink); font: inherit; font-weight: 550; text-decoration: none; cursor: pointer; }
.button.first { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button.card { cursor: pointer; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.note { border: 1px solid var(--line); border-radius: .55rem; padding: .6rem .85rem; background: var(--warn); color: var(--warn-ink); margin: 1rem 0; }
.note ul { margin: .25rem 0 0; padding-left: 1.2rem; }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1rem 0; }
label { display: block; font-weight: 550; }
input[type=text] { width: 100%; min-height: 2.75rem; margin: .35rem 0 1rem; padding: .5rem .75rem; border: 1px solid var(--soft); border-radius: .55rem; background: var(--card); color: var(--ink); font: inherit; font-size: 1.1rem; letter-spacing: .08em; text-transform: uppercase; }
code { font-family: ui-monospace, monospace; font-size: 1.15em; letter-spacing: .05em; }
footer { border-top: 1px solid var(--line); margin-top: 2rem; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .5rem; }
@media (forced-colors: active) { .mark { border: 1px solid; } }
`

/** The Content-Security-Policy source of the style. */
export const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`
