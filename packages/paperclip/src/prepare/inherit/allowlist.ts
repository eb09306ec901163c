import { matches, type NamePattern } from "./name-patterns.ts";

const bothCases = (names: readonly string[]): string[] => names.flatMap((name) => [name, name.toLowerCase()]);

/** Providers of which only key and address are known to matter; other variables of that prefix may be anything. */
const KEY_AND_ADDRESS = [
  "AI_GATEWAY",
  "CEREBRAS",
  "COHERE",
  "DASHSCOPE",
  "DEEPINFRA",
  "FIREWORKS",
  "GOOGLE",
  "GOOGLE_GENERATIVE_AI",
  "KIMI",
  "LITELLM",
  "MINIMAX",
  "MOONSHOT",
  "NVIDIA",
  "OLLAMA",
  "OPENCODE",
  "PERPLEXITY",
  "TOGETHER",
  "ZAI",
  "ZHIPU",
].flatMap((provider) => [`${provider}_API_KEY`, `${provider}_BASE_URL`]);

/** What `inherit: listed` takes from the server's pod: what reaching a model, a network and a repository needs. */
export const LISTED: readonly NamePattern[] = [
  // Providers
  ...["ANTHROPIC_*", "OPENAI_*", "OPENROUTER_*", "GEMINI_*", "MISTRAL_*", "GROQ_*", "DEEPSEEK_*", "XAI_*", "AWS_*", "AZURE_*"],
  // Not all of GOOGLE_*: sign-in secrets and service accounts of other tools have that prefix too.
  ...[
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_*",
    "GOOGLE_VERTEX_*",
    "GOOGLE_GENAI_*",
    "GOOGLE_GEMINI_*",
    "VERTEX_*",
    "CLOUD_ML_REGION",
  ],
  ...["CLAUDE_CODE_USE_*", "CLAUDE_CODE_SKIP_*", "CLAUDE_CODE_OAUTH_TOKEN", "HF_TOKEN", ...KEY_AND_ADDRESS],
  // The host's settings for this CLI
  "PAPERCLIP_OPENCODE_*",
  // Proxies
  ...bothCases(["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"]),
  // Certificates
  ...["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"],
  // Git
  ...["GIT_*", "GH_TOKEN", "GH_HOST", "GH_ENTERPRISE_TOKEN", "GITHUB_TOKEN"],
  // Locale
  ...["LANG", "LANGUAGE", "LC_*", "TZ"],
];

export const isListed = (name: string): boolean => matches(name, LISTED);

/** Where systems and git look for certificates, keys and logins without being told by a variable. */
const CERTIFICATE_FOLDERS = [
  "/etc/ssl",
  "/etc/pki",
  "/etc/ca-certificates",
  "/usr/local/share/ca-certificates",
  "/usr/share/ca-certificates",
];
const GIT_AND_SSH = /\/(\.ssh|\.gitconfig|\.git-credentials|\.config\/git|etc\/gitconfig)(\/|$)/;

export function isListedPlace(mountPath: string): boolean {
  return CERTIFICATE_FOLDERS.some((folder) => mountPath === folder || mountPath.startsWith(`${folder}/`)) || GIT_AND_SSH.test(mountPath);
}
