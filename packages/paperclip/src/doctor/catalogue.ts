/** Every check of the "Test" button: its meaning, and what to do about it. The document of the checks is made from this. */
export const CATALOGUE = {
  node_too_old: [
    "the server's own Node is older than the adapters need",
    "Run the Paperclip server on the Node that the message names, or a newer one.",
  ],
  config_valid: ["the settings are usable; names image, namespace and claim", ""],
  in_place: ["the adapter takes the place of a built-in type, and how long it does", ""],
  rules_untried: [
    "some rules of the operator's policy match by id, name or role of an agent, which Paperclip does not tell the Test button: only runs have their values",
    "",
  ],
  config_invalid: ["a setting is wrong, or one is missing that cannot be inherited", "Correct the named field in the agent's settings."],
  model_invalid: ["the CLI is certain not to take this model", "Choose another Model: the message has an example."],
  policy_refused: [
    "a setting is not allowed by the operator's policy; one check for each",
    "Change the setting, or ask the operator of the server to allow it: the message has the line for the policy (docs/policy.md).",
  ],
  config_warning: ["a setting that is skipped, misspelt or unlikely to be meant", "Correct the named field, or leave it if it is meant."],
  k8s_kubeconfig_invalid: [
    "no way to the cluster: the kubeconfig cannot be used, or the server runs in no pod and none is set",
    "Set Kubeconfig to a file on the server that names cluster, user and context; leave it empty only if the server runs in a pod of the cluster.",
  ],
  k8s_credentials_refused: [
    "the API server does not accept the credentials",
    "Renew the token or certificate in the kubeconfig; in a pod, check that its service account still exists.",
  ],
  k8s_api_unreachable: [
    "the API server does not answer",
    "Check the server address in the kubeconfig, its certificate, and that a firewall or network policy lets the Paperclip server reach it.",
  ],
  k8s_api_reachable: ["the API server answers and accepts the credentials", ""],
  k8s_namespace_missing: ["the namespace does not exist", "Create the namespace, or correct the field Namespace."],
  k8s_permission_missing: [
    "a permission is missing without which no run can work",
    "Grant it to the server's account: deploy/rbac.yaml has all of them (docs/permissions.md).",
  ],
  k8s_permission_optional: [
    "a permission is missing that brings a feature",
    "Grant it to the server's account if you want the feature: deploy/rbac.yaml has all of them (docs/permissions.md).",
  ],
  k8s_permissions_granted: ["the account has every permission it was asked about and that is required", ""],
  k8s_permissions_unknown: [
    "the cluster does not answer what the account may do",
    "Allow the account to create selfsubjectaccessreviews, or rely on the probe below: it uses the permissions.",
  ],
  provider_key_found: ["a variable with the provider's key is among the run's variables", ""],
  provider_key_missing: [
    "no variable with the provider's key is among the run's variables",
    "Set one of the named variables under Environment variables, or in the Paperclip server's own pod; a key in a file of the image is not seen here.",
  ],
  provider_key_unknown: ["whether the provider's key is there is not known", ""],
  volume_claim_found: ["the claim of the shared volume exists, is bound and ReadWriteMany", ""],
  volume_claim_missing: [
    "the claim of the shared volume does not exist in the namespace",
    "Correct the field Data claim, or create a ReadWriteMany claim of that name that holds the server's data.",
  ],
  volume_claim_pending: [
    "the claim of the shared volume is not bound",
    "See why with kubectl describe pvc: no volume, no storage class, or one that waits for its first pod.",
  ],
  volume_claim_unknown: ["the claim of the shared volume could not be looked at", "Test again; if it stays, see the message."],
  volume_claim_single_node: [
    "the claim of the shared volume is not ReadWriteMany",
    "Use a ReadWriteMany claim (NFS, CephFS, EFS, Filestore, Azure Files), or keep server and agents on one node by Node selector.",
  ],
  volume_claim_single_pod: [
    "the claim of the shared volume is ReadWriteOncePod: no pod can have it beside the server's",
    "Use a ReadWriteMany claim (NFS, CephFS, EFS, Filestore, Azure Files).",
  ],
  volume_writable: ["the server can make a run's files on the shared volume", ""],
  volume_unwritable: [
    "the server cannot make a run's files on the shared volume",
    "Mount the volume at the data path on the server, writable for the user the server runs as.",
  ],
  volume_unusable: [
    "the shared volume did not answer the server, or did not do what a run needs before it starts",
    "See the message: look at the volume's server and at its mount on the Paperclip server, and test again.",
  ],
  instance_locks_work: ["SQLite can lock files in the folder of Paperclip's instance", ""],
  instance_locks_broken: [
    "SQLite cannot lock files in the folder of Paperclip's instance; releases after 2026.916 need it",
    "Put the instance's folder on a volume with file locks, such as a ReadWriteOnce disk, and only the shared folders on the network volume (docs/storage.md, Two volumes); or give the network volume its lock service.",
  ],
  instance_locks_unknown: ["whether SQLite can lock files in the folder of Paperclip's instance was not found out", ""],
  storage_class_found: ["the storage class for claims of the agents' own exists", ""],
  storage_class_missing: [
    "the storage class for claims of the agents' own does not exist",
    "Correct the field Session storage class: kubectl get storageclass lists those of the cluster.",
  ],
  storage_class_unset: [
    "no storage class is set: only agents whose claim is there already can run",
    "Set the field Session storage class, make the claims yourself, or choose another Session storage.",
  ],
  agent_claim_accepted: ["the API server would take the claim of an agent (server-side dry run)", ""],
  agent_claim_refused: [
    "the API server would refuse the claim of an agent",
    "Its message names the field, the quota or the admission rule: change the setting behind it, or the rule.",
  ],
  agent_claim_unknown: ["storage class or claim could not be looked at", "Test again; if it stays, see the message."],
  k8s_job_accepted: ["the API server would take the Job of a run (server-side dry run)", ""],
  k8s_job_refused: [
    "the API server would refuse the Job of a run",
    "Its message names the field, the quota or the admission rule: change the setting behind it, or the rule.",
  ],
  k8s_job_warning: [
    "a warning of the API server about the Job of a run; a Pod Security violation shows here: the Job is taken, its pod is not",
    "Change the setting behind it, or the Pod Security level of the namespace.",
  ],
  k8s_job_untested: ["the dry run could not be made", "Test again; if it stays, see the message."],
  probe_ran: ["a pod with the real image, user, volumes and variables started and reported", ""],
  probe_not_created: ["the probe's Job could not be created", "See the message: it names what the API server refused."],
  probe_not_started: [
    "the probe's pod did not start",
    "The message is the cluster's own reason: correct Image, CPU and memory, Node selector, Tolerations, Service account or Data claim.",
  ],
  probe_image: [
    "the image cannot be pulled",
    "Correct the field Image, give the namespace a pull secret (the server's own are inherited), or set Image pull policy to Never if the image is on the node.",
  ],
  probe_slow: [
    "the probe's pod was not done in time: a first pull of a large image, or an autoscaler, takes longer than this test may",
    "Test again in some minutes; runs wait longer (Scheduling timeout).",
  ],
  probe_failed: ["the probe's pod ended before it reported", "See the message; kubectl get events in the namespace may show more."],
  probe_skipped: ["the probe was not made, as it could not succeed", "Fix the errors above and test again."],
  runtime_found: ["the image's JavaScript runtime and the user the pod runs as", ""],
  runtime_missing: [
    "the image has no program node, which runs the runner, or one that is too old",
    "Use an image with Node.js 18 or newer in its PATH (the Paperclip server's own has it), or have the operator offer a tools image: `tools: { image: <your tools image>, mount: copy }` in the policy file (docs/images.md), and set Agent tools to auto.",
  ],
  tools_used: ["Node and the agent's CLI come from the operator's tools image, and why", ""],
  cli_found: ["version of the agent's CLI, the image's own or that of the tools image", ""],
  cli_missing: [
    "the agent's CLI is not in the image, or does not start",
    "Use an image that has the CLI in its PATH, name the program in the field Command, or have the operator offer a tools image (docs/images.md).",
  ],
  home_unwritable: [
    "the pod's user cannot write to its private home or temporary folder",
    "An admission rule has changed the pod's volumes or user: see the Job's pod with kubectl get -o yaml.",
  ],
  volume_shared: ["what the pod writes to the shared volume is seen by the server", ""],
  volume_not_shared: [
    "what the pod wrote to the shared volume was not seen by the server",
    "Check that Data claim is the claim that the server itself has mounted at its data path.",
  ],
  workspace_unwritable: [
    "the pod's user cannot write to the working folder",
    "Give the folder to the pod's user, or to its group with write permission; Paperclip's own workspaces are made by the server.",
  ],
  hello_probe_passed: ["a turn of the CLI with a subscription that the host manages was answered; only such accounts are tried", ""],
  hello_probe_failed: [
    "a turn of the CLI with a subscription that the host manages was not answered",
    "Sign in to the account again, or wait until its limit is reset, and test again; the message says what kind of failure it was.",
  ],
  host_reachable: ["the pod reaches the Paperclip server", ""],
  host_unreachable: [
    "the pod does not reach the Paperclip server: the agent could not read or update its issue",
    "Set PAPERCLIP_API_URL on the server, or under Environment variables, to an address that pods of the namespace reach (a Service), and allow it in network policies.",
  ],
  host_unknown: [
    "where pods reach the Paperclip server is not known",
    "Set PAPERCLIP_API_URL on the server, or under Environment variables, to an address that pods of the namespace reach.",
  ],
} as const satisfies Readonly<Record<string, readonly [meaning: string, todo: string]>>;

export type CheckCode = keyof typeof CATALOGUE;
/** Those with a remedy: only they may be warnings or errors. */
export type ProblemCode = { [Code in CheckCode]: (typeof CATALOGUE)[Code][1] extends "" ? never : Code }[CheckCode];
