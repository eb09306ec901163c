export interface SignIn {
  readonly email: string;
  readonly password: string;
}

/** The command's terminal: what happens and when, colours only where there are some. */
export interface Screen {
  readonly step: (text: string) => void;
  readonly note: (text: string) => void;
  ready(page: string, signIn: SignIn | null): void;
}

export function startScreen(out: NodeJS.WriteStream): Screen {
  const color = out.isTTY === true && !process.env.NO_COLOR;
  const paint = (code: number) => (text: string) => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
  const [bold, dim, cyan] = [paint(1), paint(2), paint(36)];
  const begun = Date.now();
  const print = (text = "") => void out.write(`${text}\n`);
  print(bold("A real Paperclip server, agents as Kubernetes Jobs, a scripted LLM"));
  return {
    step: (text) => print(`${dim(`${((Date.now() - begun) / 1000).toFixed(1).padStart(6)} s`)}  ${text}`),
    note: (text) => print(`\n${text}`),
    ready(page, signIn) {
      print(`\n  ${bold("Open")}  ${cyan(page)}`);
      if (signIn !== null) print(`  ${bold("Sign in")}  ${signIn.email}, password ${signIn.password}`);
      print(`  ${dim("Look at an agent, its runs and their transcripts, its Harness page with our settings and the Test button.")}`);
      print(`  ${dim("Ctrl-C ends everything.")}\n`);
    },
  };
}
