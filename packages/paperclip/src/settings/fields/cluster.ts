import { ConfigError } from "../config-error.ts";
import { named } from "../field.ts";
import { choice, text } from "../kinds/scalar.ts";
import { list } from "../kinds/structured.ts";
import { absolutePath, dnsLabel, dnsSubdomain, imageReference, mountPath } from "../kinds/text-checks.ts";

/** Names that the server's container usually has, tried in this order where `serverContainer` is unset. */
export const SERVER_CONTAINER_NAMES: readonly string[] = ["paperclip", "paperclip-server", "server"];

const OWN_POD = "the server pod's";

/** Where agents run and what they get from the server's own pod. */
export const clusterFields = named({
  image: text({
    label: "Image",
    first: true,
    defaultText: OWN_POD,
    check: imageReference,
    doc: "container image with the CLI and Node ≥ 18, or any other where the operator offers tools",
  }),
  tools: choice({
    label: "Agent tools",
    options: { auto: "When the image lacks Node or the CLI", always: "Always", never: "Never" },
    doc: "whether Node and the CLI come from the operator's tools image. `auto`: when the image lacks them or its Node is too old; `always`: also when it has them",
  }),
  imagePullPolicy: choice({
    label: "Image pull policy",
    options: { IfNotPresent: "If not present", Always: "Always", Never: "Never" },
    doc: "when a node pulls the image",
  }),
  namespace: text({
    label: "Namespace",
    defaultText: OWN_POD,
    check: dnsLabel,
    doc: "where the Jobs run. In another namespace than the server's, claim, Secrets, ConfigMaps and pull secrets of the same names are used where the operator's policy says so, and none otherwise",
  }),
  kubeconfig: text({
    label: "Kubeconfig",
    defaultText: "in-cluster",
    check: absolutePath,
    doc: "path of a kubeconfig on the server; its content is not accepted",
  }),
  serviceAccountName: text({
    label: "Service account",
    defaultText: "none",
    check: dnsSubdomain,
    doc: "of the agent's pod; its token is mounted only when this is set",
  }),
  dataPath: text({
    label: "Data path",
    defaultText: "`PAPERCLIP_HOME`, else `/paperclip`",
    check: mountPath,
    doc: "where the volume that server and pods share is mounted, the same on both sides",
  }),
  dataClaim: text({
    label: "Data claim",
    defaultText: "the claim the server mounts there",
    check: dnsSubdomain,
    doc: "PersistentVolumeClaim (ReadWriteMany) behind the data path",
  }),
  serverContainer: text({
    label: "Server container",
    defaultText: `${SERVER_CONTAINER_NAMES.map((name) => `\`${name}\``).join(", ")}, else the only one`,
    check: dnsLabel,
    doc: "name of the server's container in its own pod, from which image, volume and environment are taken",
  }),
  inherit: choice({
    label: "Inherit from the server",
    options: { listed: "Known names and those listed", all: "Everything but the server's own secrets" },
    doc:
      "environment and secret volumes taken from the server's pod. `listed`: provider keys, proxies, certificates, git, locale, and `inheritNames`; " +
      "`all`: everything but the server's own secrets (database URL, auth and signing keys)",
  }),
  inheritNames: list({
    label: "Also inherit",
    check: inheritedName,
    doc: "further environment variables, Secrets and ConfigMaps to take, by name or by its beginning and `*`; a list, or names separated by commas or spaces",
  }),
});

/** The message does not repeat the name, because people enter NAME=secret by mistake. */
function inheritedName(item: string, key: string, place: number): void {
  if (!/^(?=.)[A-Za-z0-9_.-]{0,253}\*?$/.test(item))
    throw new ConfigError(
      key,
      `item ${place} must be the name of an environment variable, Secret or ConfigMap, or its beginning and *, nothing else`,
    );
}
