/**
 * Returns the steps to make programs trust the local HTTPS proxy. They are not performed here, because only
 * the user should change a trust store.
 */
export const trustLines = (path: string, home: string): readonly string[] => [
  `The edge signs its certificates with this machine's own authority: ${path}`,
  `Anyone who has the key beside it can impersonate any https site to programs that trust it. Keep ${home} private,`,
  'and remove the authority from every store when you no longer need it.',
  '',
  'Browsers:',
  `  Linux    certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n ashlar-edge -i ${quoted(path)}    (package libnss3-tools; for Chromium)`,
  `  macOS    security add-trusted-cert -r trustRoot -k ~/Library/Keychains/login.keychain-db ${quoted(path)}`,
  `  Windows  certutil -user -addstore Root ${quoted(path)}`,
  '  Firefox  Settings, Privacy & Security, View Certificates, Authorities, Import',
  'curl:',
  `  curl --cacert ${quoted(path)} https://app.localhost/`,
  'Node (set before it starts):',
  `  export NODE_EXTRA_CA_CERTS=${quoted(path)}`,
  '',
  'Names:',
  '  *.localhost   Browsers and curl resolve it on Linux, macOS and Windows. Node does with systemd-resolved (most Linux',
  '                desktops); elsewhere, add "127.0.0.1 app.localhost" to the hosts file.',
  '  *.dev.test    No system resolves it by itself: add "127.0.0.1 idp.dev.test" to the hosts file.',
  '  Hosts file    /etc/hosts on Linux and macOS, C:\\Windows\\System32\\drivers\\etc\\hosts on Windows.',
]

const quoted = (path: string): string =>
  /^[\w./~-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
