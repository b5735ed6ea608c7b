import { Args, Command } from '@oclif/core'

export default class Completion extends Command {
  static override summary = 'Print the shell completion script of ashlar and idp.'
  static override description = `The script lists every command and flag of this version and runs no program. After an update, load the script again. In ~/.bashrc: source <(ashlar completion bash). In ~/.zshrc: source <(ashlar completion zsh). In config.fish: ashlar completion fish | source.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> bash > ashlar.bash',
    '<%= config.bin %> <%= command.id %> zsh > ashlar.zsh',
    '<%= config.bin %> <%= command.id %> fish | source',
  ]
  static override args = {
    shell: Args.string({ description: 'The shell.', options: ['bash', 'zsh', 'fish'], required: true }),
  }

  override async run(): Promise<void> {
    const { args } = await this.parse(Completion)
    const { completionScript } = await import('../completion/completion-script.js')
    process.stdout.write(completionScript(args.shell as 'bash' | 'zsh' | 'fish', this.config))
  }
}
