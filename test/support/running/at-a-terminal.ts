/** Put before a program: it gets a terminal of its own. */
export const AT_A_TERMINAL = [
  ...['python3', '-c'],
  'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))',
]
