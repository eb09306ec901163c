import type { NamePattern } from "./denylist.ts";

const bothCases = (names: readonly string[]): string[] => names.flatMap((name) => [name, name.toLowerCase()]);

/** Providers of which only key and address are known to matter; other variables of that prefix may be anything. */
const KEY_AND_ADDRESS = (
  "AI_GATEWAY CEREBRAS COHERE DASHSCOPE DEEPINFRA FIREWORKS GOOGLE GOOGLE_GENERATIVE_AI KIMI LITELLM MINIMAX MOONSHOT NVIDIA OLLAMA " +
  "PERPLEXITY TOGETHER ZAI ZHIPU"
)
  .split(" ")
  .flatMap((provider) => [`${provider}_API_KEY`, `${provider}_BASE_URL`]);

/** For CLIs that can have a model on Amazon Bedrock: it needs a region, and a token or a key. */
export const BEDROCK_VARIABLES: readonly NamePattern[] = [
  ...["AWS_REGION", "AWS_DEFAULT_REGION", "AWS_BEARER_TOKEN_BEDROCK"],
  ...["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"],
];

/** What `inherit: listed` takes from the server's pod whatever the CLI: what reaching a model, a network and a repository needs. */
export const COMMON_ALLOWLIST: readonly NamePattern[] = [
  // Providers
  ...["OPENAI_*", "OPENROUTER_*", "GEMINI_*", "MISTRAL_*", "GROQ_*", "DEEPSEEK_*", "XAI_*", "HF_TOKEN"],
  // Not all of AZURE_*: the account that manages the cloud has that prefix too.
  ...["AZURE_OPENAI_*", "AZURE_API_*", "AZURE_RESOURCE_NAME", "AZURE_COGNITIVE_SERVICES_RESOURCE_NAME"],
  // Not all of GOOGLE_*: sign-in secrets and service accounts of other tools have that prefix too.
  ...["GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_*", "GOOGLE_VERTEX_*", "GOOGLE_GENAI_*", "GOOGLE_GEMINI_*"],
  ...["VERTEX_*", "CLOUD_ML_REGION", ...KEY_AND_ADDRESS],
  // Proxies
  ...bothCases(["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"]),
  // Certificates
  ...["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"],
  // Git
  ...["GIT_*", "GH_TOKEN", "GH_HOST", "GH_ENTERPRISE_TOKEN", "GITHUB_TOKEN"],
  // Locale
  ...["LANG", "LANGUAGE", "LC_*", "TZ"],
];

/** Where systems look for certificates, and git and ssh for keys and logins, without a variable that names the place. */
const CERTIFICATES = /^\/(etc\/(ssl|pki|ca-certificates)|usr\/(local\/)?share\/ca-certificates)(\/|$)/;
const GIT_AND_SSH = /\/(\.ssh|\.gitconfig|\.git-credentials|\.config\/git|etc\/gitconfig)(\/|$)/;

export const isAllowedPlace = (mountPath: string): boolean => CERTIFICATES.test(mountPath) || GIT_AND_SSH.test(mountPath);
