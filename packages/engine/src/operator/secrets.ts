import { type DeleteResult, deleteSecret } from "../kube/calls.ts";
import { type ConnectOptions, connect } from "../kube/connection.ts";
import { paths } from "../kube/paths.ts";
import { listAll } from "../kube/watch/list.ts";

/** Of a Secret everything but what it holds. */
export interface SecretView {
  readonly name: string;
  readonly uid: string;
  readonly createdAt: string | null;
  readonly deletedAt: string | null;
  /** Of the objects it goes with. */
  readonly ownerUids: readonly string[];
}

/** Asks for names and owners only: nobody needs to see what is in them. */
const METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
const RETRY = { attempts: 3 };

export async function listSecrets(cluster: ConnectOptions, namespace: string, labelSelector: string): Promise<SecretView[]> {
  const found: SecretView[] = [];
  const list = { path: paths.secrets(namespace), labelSelector, accept: METADATA };
  await listAll(await connect(cluster), list, (raw) => found.push(project(raw)), RETRY);
  return found;
}

interface Raw {
  readonly metadata?: {
    readonly name?: string;
    readonly uid?: string;
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly { readonly uid?: string }[];
  };
}

function project(raw: unknown): SecretView {
  const { name = "", uid = "", creationTimestamp, deletionTimestamp, ownerReferences = [] } = (raw as Raw).metadata ?? {};
  const ownerUids = ownerReferences.flatMap((owner) => (owner.uid === undefined ? [] : [owner.uid]));
  return { name, uid, createdAt: creationTimestamp ?? null, deletedAt: deletionTimestamp ?? null, ownerUids };
}

/** Removes this very Secret. */
export async function removeSecret(
  cluster: ConnectOptions,
  namespace: string,
  { name, uid }: Pick<SecretView, "name" | "uid">,
): Promise<DeleteResult> {
  return deleteSecret(await connect(cluster), namespace, name, { uid, propagation: "Background" });
}
