import { z } from 'zod';
import { defaultMeasurementOptions, POD_INTERFACES } from '../../src/controllers/measurement/options.ts';
import { anyList, anyMap, dnsLabel, stringMap } from './shapes.ts';

const MEASUREMENT = defaultMeasurementOptions('');

function keyOf(what: string, key: string) {
  return z
    .strictObject({
      name: z.string().default('').describe('Name of the object; empty: none.'),
      key: z.string().default(key).describe('Key in the object.'),
    })
    .prefault({})
    .describe(what);
}

const storage = z
  .strictObject({
    size: z
      .string()
      .default('')
      .describe(
        'Size of a PersistentVolumeClaim that the operator creates, such as 10Gi; empty: none. The size can only grow. helm uninstall deletes the claim.',
      ),
    storageClassName: z.string().default('').describe("StorageClass of that claim; empty: the cluster's default."),
    existingClaim: z
      .string()
      .default('')
      .describe('Existing claim to use instead; empty: none. The operator does not create or delete it.'),
  })
  .prefault({})
  .describe(
    `Volume for the samples. Without size and existingClaim it is an emptyDir of ${MEASUREMENT.prometheus.storageSize}.`,
  );

/** The Prometheus that the operator queries or deploys. */
export const prometheus = z
  .strictObject({
    url: z
      .string()
      .regex(/^(https?:\/\/.+)?$/)
      .default('')
      .describe(
        'URL of an existing Prometheus, such as "http://prometheus.monitoring.svc:9090". The operator then deploys none.',
      ),
    username: z.string().default('').describe('User for basic authentication at that URL.'),
    passwordSecret: keyOf("Secret in the release's namespace with that user's password.", 'password'),
    bearerTokenSecret: keyOf("Secret in the release's namespace with a bearer token.", 'token'),
    caSecret: keyOf(
      "Secret in the release's namespace with the CA (PEM) that signed the server's certificate.",
      'ca.crt',
    ),
    caConfigMap: keyOf("The same in a ConfigMap of the release's namespace.", 'ca.crt'),
    headers: stringMap.default({}).describe('Headers sent with each request to Prometheus, such as X-Scope-OrgID.'),
    matchers: z
      .array(z.string())
      .default([])
      .describe('Label matchers added to each query, such as cluster="x" if one Prometheus covers several clusters.'),
    replicaLabels: z
      .array(z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_]*$/))
      .default([])
      .describe(
        'Labels that tell the replicas of an HA pair of Prometheus apart, such as prometheus_replica. Series that differ only in them count once. Not needed if the server deduplicates.',
      ),
    image: z.string().default(MEASUREMENT.prometheus.image).describe('Image of the deployed Prometheus.'),
    priorityClassName: z
      .string()
      .default(MEASUREMENT.prometheus.priorityClassName)
      .describe('Priority class of the deployed Prometheus; empty: none.'),
    resources: anyMap
      .default({})
      .describe(
        `Requests and limits of the Prometheus container. They replace the whole default; empty: ${JSON.stringify(MEASUREMENT.prometheus.resources)}.`,
      ),
    nodeSelector: stringMap
      .default({})
      .describe('Node selector of the deployed Prometheus, in addition to kubernetes.io/os.'),
    tolerations: anyList.default([]).describe('Tolerations of the deployed Prometheus.'),
    retention: z
      .string()
      .default('')
      .describe(
        `How long the deployed Prometheus keeps samples, such as 15d; empty: ${MEASUREMENT.prometheus.retentionTime}. Verdicts use only the newest samples; a longer retention is for dashboards.`,
      ),
    retentionSize: z
      .string()
      .default('')
      .describe(
        `Size limit of its samples on disk, such as 8GB; empty: ${MEASUREMENT.prometheus.retentionSize}, or half of storage.size.`,
      ),
    storage,
  })
  .prefault({})
  .describe('The Prometheus that the operator queries.');

/** The deployed node-exporter. */
export const nodeExporter = z
  .strictObject({
    enabled: z
      .union([z.boolean(), z.literal('auto')])
      .default('auto')
      .describe(
        'Whether the operator deploys node-exporter; auto: yes, unless prometheus.url is set. The stack default uses one that the cluster has in its place.',
      ),
    image: z.string().default(MEASUREMENT.exporter.image).describe('Image of node-exporter.'),
    port: z
      .union([z.int().min(1).max(65535), z.literal('auto')])
      .default('auto')
      .describe(
        'TCP port of node-exporter, which must be free on every node; auto: 9100, and 9890 on OpenShift, whose own node-exporter has 9100.',
      ),
    priorityClassName: z
      .string()
      .default(MEASUREMENT.exporter.priorityClassName)
      .describe(
        'Priority class of node-exporter; empty: none. With system-node-critical it also runs on a node that is full of pods, but some clouds, such as GKE, then require a ResourceQuota for that class in its namespace.',
      ),
    nodeSelector: stringMap
      .default({})
      .describe(
        'Labels that a node needs to run node-exporter, in addition to kubernetes.io/os. A node that lacks one and has no series is not measured, which is not a problem.',
      ),
    affinity: anyMap
      .default({})
      .describe(
        'Required node affinity of node-exporter, for nodes that a selector cannot leave out: nodeAffinity with requiredDuringSchedulingIgnoredDuringExecution and matchExpressions. Virtual nodes are always left out.',
      ),
    resources: anyMap
      .default({})
      .describe(
        `Requests and limits of the node-exporter container. They replace the whole default; empty: ${JSON.stringify(MEASUREMENT.exporter.resources)}.`,
      ),
    ignoredDevices: z
      .string()
      .default('')
      .describe(
        `Regular expression of network devices that node-exporter does not read. It replaces the default: the host ends of pod interfaces. If the uplink of a node has such a name, set another expression, or the node is not measured. Empty: ${POD_INTERFACES}`,
      ),
  })
  .prefault({})
  .describe('node-exporter, in the namespace <release namespace>-node-exporter.');

/** The search for an existing monitoring. */
export const discovery = z
  .strictObject({
    namespaces: z
      .array(dnsLabel)
      .default([])
      .describe(
        'Namespaces in which the operator looks for an existing node-exporter and Prometheus, such as monitoring; empty: all. What is found counts only if it measures most nodes, but a server can lie: name the namespaces if users of others must not be trusted. Gates of stacks and DNS weights query a Prometheus that was found only in these namespaces and in the namespace of the release.',
      ),
  })
  .prefault({})
  .describe('The search for a node-exporter and a Prometheus that the cluster has already.');
