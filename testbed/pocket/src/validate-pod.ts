import type { Container, PodSpec, Volume } from "./pod.ts";
import { parseQuantity } from "./quantity.ts";
import type { Cause } from "./status.ts";
import { invalidValue, isDnsLabel, required } from "./validate-meta.ts";

const dnsLabelRule =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const quantityRule = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const notFound = (field: string, value: string): Cause => ({
  reason: "FieldValueNotFound",
  message: `Not found: ${JSON.stringify(value)}`,
  field,
});
const duplicate = (field: string, value: string): Cause => ({
  reason: "FieldValueDuplicate",
  message: `Duplicate value: ${JSON.stringify(value)}`,
  field,
});

export function checkPodSpec(spec: PodSpec | undefined, field: string): Cause[] {
  if (!spec?.containers || spec.containers.length === 0) return [required(`${field}.containers`)];
  const volumes = new Set((spec.volumes ?? []).map((volume) => volume.name));
  return [
    ...(spec.volumes ?? []).flatMap((volume, i) => checkVolume(volume, `${field}.volumes[${i}]`)),
    ...spec.containers.flatMap((c, i) => checkContainer(c, volumes, `${field}.containers[${i}]`)),
    ...(spec.initContainers ?? []).flatMap((c, i) => checkContainer(c, volumes, `${field}.initContainers[${i}]`)),
  ];
}

const checkLabelName = (name: string | undefined, field: string): Cause[] => {
  if (!name) return [required(field)];
  return isDnsLabel(name) ? [] : [invalidValue(field, name, dnsLabelRule)];
};

function checkVolume(volume: Volume, field: string): Cause[] {
  const causes = checkLabelName(volume.name, `${field}.name`);
  if (volume.secret && !volume.secret.secretName) causes.push(required(`${field}.secret.secretName`));
  const claim = volume.persistentVolumeClaim;
  if (claim && !claim.claimName) causes.push(required(`${field}.persistentVolumeClaim.claimName`));
  for (const source of [volume.secret, volume.configMap]) {
    const mode = source?.defaultMode;
    if (mode !== undefined && (!Number.isInteger(mode) || mode < 0 || mode > 0o777)) {
      causes.push(invalidValue(`${field}.defaultMode`, mode, "must be a number between 0 and 0777 (octal), both inclusive"));
    }
  }
  return causes;
}

function checkContainer(container: Container, volumes: ReadonlySet<string>, field: string): Cause[] {
  return [
    ...checkLabelName(container.name, `${field}.name`),
    ...(container.image ? [] : [required(`${field}.image`)]),
    ...checkMounts(container, volumes, field),
    ...checkEnv(container, field),
    ...checkResources(container, field),
  ];
}

function checkMounts(container: Container, volumes: ReadonlySet<string>, field: string): Cause[] {
  const seen = new Set<string>();
  return (container.volumeMounts ?? []).flatMap((mount, i) => {
    const causes: Cause[] = [];
    if (!mount.name) causes.push(required(`${field}.volumeMounts[${i}].name`));
    else if (!volumes.has(mount.name)) causes.push(notFound(`${field}.volumeMounts[${i}].name`, mount.name));
    if (!mount.mountPath) causes.push(required(`${field}.volumeMounts[${i}].mountPath`));
    else if (seen.has(mount.mountPath))
      causes.push(invalidValue(`${field}.volumeMounts[${i}].mountPath`, mount.mountPath, "must be unique"));
    seen.add(mount.mountPath);
    return causes;
  });
}

// Since 1.32 any printable ASCII but "=" may stand in a name.
function checkEnv(container: Container, field: string): Cause[] {
  return (container.env ?? []).flatMap((variable, i) => {
    if (!variable.name) return [required(`${field}.env[${i}].name`)];
    if (/^[ -<>-~]+$/.test(variable.name)) return [];
    return [
      invalidValue(
        `${field}.env[${i}].name`,
        variable.name,
        'a valid environment variable name must consist only of printable ASCII characters other than "="',
      ),
    ];
  });
}

function checkResources(container: Container, field: string): Cause[] {
  const causes: Cause[] = [];
  const { requests = {}, limits = {} } = container.resources ?? {};
  for (const [kind, table] of Object.entries({ requests, limits })) {
    for (const [name, quantity] of Object.entries(table)) {
      const at = `${field}.resources.${kind}[${name}]`;
      const value = parseQuantity(quantity);
      if (value === undefined) causes.push(invalidValue(at, quantity, quantityRule));
      else if (value < 0) causes.push(invalidValue(at, String(quantity), "must be greater than or equal to 0"));
      else if (kind === "requests" && limits[name] !== undefined && value > (parseQuantity(limits[name]) ?? Number.POSITIVE_INFINITY)) {
        causes.push(invalidValue(at, String(quantity), `must be less than or equal to ${name} limit of ${limits[name]}`));
      }
    }
  }
  return causes;
}

export function checkUniqueNames(spec: PodSpec, field: string): Cause[] {
  const seen = new Set<string>();
  return [...(spec.initContainers ?? []), ...spec.containers].flatMap((container) => {
    if (!seen.has(container.name)) {
      seen.add(container.name);
      return [];
    }
    return [duplicate(`${field}.containers.name`, container.name)];
  });
}
