import * as z from 'zod';
import { labelSelectorSchema, type SelectorLimits } from '../labelSelector.ts';
import { patternSchema } from '../fieldSchemas.ts';
import { rampSchema } from './rampSchema.ts';
import {
  ACKNOWLEDGE,
  DEFAULT_ANNOTATION_PREFIX,
  DEFAULT_FULL_VALUE,
  DEFAULT_MIN_CHANGE,
  DEFAULT_REGION,
  DEFAULT_TABLE,
  DEFAULT_WEIGHT_KEY,
  LONGEST_QUERY,
  MOST_WEIGHT,
  SOURCE_KINDS,
} from './terms.ts';

/** ResourceRecordSet.SetIdentifier of Route 53's API reference: 1 to 128 characters. */
const LONGEST_SET_IDENTIFIER = 128;
/** RFC 1035: a name has at most 255 octets, 253 characters as text. */
const LONGEST_DOMAIN = 253;
const DOMAIN = {
  pattern: '^[.]?([a-z0-9_]([-a-z0-9_]{0,61}[a-z0-9_])?[.])*[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$',
  message: 'must be a domain in lower case, such as "example.org", or ".example.org" for what is within it',
  longest: LONGEST_DOMAIN,
};
/** A DNS subdomain. */
const SUBDOMAIN = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$';
/** The prefix of an annotation: a DNS subdomain. */
const PREFIX = {
  pattern: SUBDOMAIN,
  message: 'must be a DNS name in lower case, such as "dns.example.org"',
  longest: LONGEST_DOMAIN,
};
const FILTER = {
  pattern: '^([a-z0-9][-a-z0-9.]*/)?[A-Za-z0-9][-A-Za-z0-9_.]{0,62}=.*$',
  message: 'must be the key of an annotation, "=" and its value, such as "example.org/dns=public"',
  longest: 1024,
};
/** ResourceRecordSet.HealthCheckId of Route 53's API reference: at most 64 characters. */
const LONGEST_HEALTH_CHECK = 64;
/** RFC 2181, section 8. */
const LONGEST_TTL = 2_147_483_647;
const MOST_CLASSES = 20;
/** ResourceId of Route 53's API reference, without the prefix /hostedzone/. */
const HOSTED_ZONE = {
  pattern: '^[A-Z0-9]+$',
  message: 'must be the ID of a hosted zone of Route 53, such as "Z0123456789ABCDEFGHIJ"',
  longest: 32,
};
const MOST_ZONES = 10;
const REMOVAL = {
  // Eight digits confirm nothing: earlier versions named them, and they may be in a spec.
  pattern: '^(Any|[0-9a-f]{8}([0-9a-f]{8})?(,[0-9a-f]{16})*)$',
  message:
    'must be the 16 digits that the condition RemovalsConfirmed names, such as "1f0c3d5e9a7b4c21", several of them with commas between, or "Any"',
  longest: 339,
};

/** TableName of DynamoDB's API reference. */
const TABLE = {
  pattern: '^[a-zA-Z0-9_.-]{3,255}$',
  message: 'must be the name of a table: 3 to 255 letters, digits, "_", "-" and ".", such as "traffic-controller"',
  longest: 255,
};
const REGION = {
  pattern: '^[a-z]{2,4}(-[a-z]+)+-[0-9]+$',
  message: 'must be an AWS region, such as "eu-west-1"',
  longest: 32,
};
/** A DNS subdomain, as the name of a ConfigMap is. */
const CONFIG_MAP = {
  pattern: SUBDOMAIN,
  message: 'must be the name of a ConfigMap, such as "weights"',
  longest: LONGEST_DOMAIN,
};
/** ConfigMap.data of the Kubernetes API. */
const CONFIG_MAP_KEY = {
  pattern: '^[-._a-zA-Z0-9]+$',
  message: 'must be a key of a ConfigMap: letters, digits, "-", "_" and ".", such as "weight"',
  longest: 253,
};
/** A number above 0. */
const FULL_VALUE = {
  pattern: '^([0-9]*[1-9][0-9]*([.][0-9]+)?|0[.][0-9]*[1-9][0-9]*)$',
  message: 'must be a number above 0, such as "1" or "100"',
  longest: 20,
};
const MOST_CHANGE = 100;
const BACKENDS = ['static', 'configMap', 'dynamodb', 'prometheus'] as const;
const ONE_MESSAGE = 'must have exactly one field: static, configMap, dynamodb or prometheus';

const weight = (description: string) => z.int().min(0).max(MOST_WEIGHT).meta({ format: 'int32', description });

const dynamodb = z
  .object({
    tableName: patternSchema(`Name of the table. Default: ${DEFAULT_TABLE}.`, TABLE).optional(),
    region: patternSchema(`Region of the table. Default: ${DEFAULT_REGION}.`, REGION).optional(),
    initialWeight: weight(
      'Weight of a row that does not exist and is created, if the TrafficWeight has had none yet. Default: 0, no traffic.',
    ).optional(),
    allowAllZero: z
      .boolean()
      .optional()
      .meta({
        description:
          'Whether the cluster may go to 0 although no other cluster in the table has traffic. Route 53 treats weights that are all 0 as ' +
          'equal. Default: false.',
      }),
  })
  .meta({
    description:
      'The weight is DesiredWeight in the row of the cluster, read every 20 s; the key is clusterName. CurrentWeight is ' +
      'set once it is in force.',
  });

const prometheus = z
  .object({
    query: z
      .string()
      .min(1)
      .max(LONGEST_QUERY)
      .meta({
        description:
          'PromQL that returns one series, such as the free share of the uplinks of the cluster. The operator sends it to its ' +
          'Prometheus every 20 s. While it returns no number, the last weight stays.',
      }),
    fullValue: patternSchema(
      `The value that means a weight of 100; smaller values are scaled in proportion. Default: "${DEFAULT_FULL_VALUE}", for a share from 0 to 1.`,
      FULL_VALUE,
    ).optional(),
    minChange: z
      .int()
      .min(0)
      .max(MOST_CHANGE)
      .optional()
      .meta({
        format: 'int32',
        description: `A weight that differs by less from the last weight is ignored, since each change writes all records. Default: ${DEFAULT_MIN_CHANGE}.`,
      }),
  })
  .meta({ description: 'The weight is measured: from 0 to 100.' });

const configMap = z
  .object({
    name: patternSchema('Name of the ConfigMap, in the namespace of the operator.', CONFIG_MAP),
    key: patternSchema(`Key whose value is the weight. Default: ${DEFAULT_WEIGHT_KEY}.`, CONFIG_MAP_KEY).optional(),
  })
  .meta({ description: 'The weight is a value in a ConfigMap, an integer from 0 to 255, read every 20 s.' });

const backend = z
  .object({
    static: z
      .object({
        weight: weight(`Weight of the cluster, from 0 to ${MOST_WEIGHT}. 0: no traffic.`),
      })
      .optional()
      .meta({ description: 'The weight is in this object.' }),
    configMap: configMap.optional(),
    dynamodb: dynamodb.optional(),
    prometheus: prometheus.optional(),
  })
  .superRefine((given, context) => {
    const count = BACKENDS.filter((field) => given[field] !== undefined).length;
    if (count !== 1) context.addIssue({ code: 'custom', message: ONE_MESSAGE });
  })
  .meta({
    description: 'Where the weight of the cluster comes from: exactly one field.',
    'x-kubernetes-validations': [
      {
        rule: `[${BACKENDS.map((field) => `has(self.${field})`).join(', ')}].exists_one(one, one)`,
        message: ONE_MESSAGE,
      },
    ],
  });

/** Returns the schema of `spec.namespaceSelector`. @param limits default: the limits of `labelSelectorSchema` */
export function namespaceSelectorSchema(limits?: SelectorLimits) {
  return labelSelectorSchema(
    'Selects the namespaces whose Ingresses and HTTPRoutes have records, by their labels. Absent or empty: all namespaces.',
    'Checked',
    limits && { limits },
  );
}

/** Schema of `spec`. */
export const specSchema = z
  .object({
    clusterName: z.string().min(1).max(LONGEST_SET_IDENTIFIER).meta({
      description:
        'Name of this cluster: the set identifier of its records. Each cluster needs its own name, or the clusters overwrite each other.',
    }),
    bindingDomain: patternSchema(
      'Only hosts that are this domain, or within it, have records; with a dot before it, only those within it. Absent: all hosts.',
      DOMAIN,
    ).optional(),
    allowRemoval: patternSchema(
      'Confirms that many hosts lose their records at once because nothing selects them any longer: more than one, and more than 25 % of ' +
        'the hosts or of the namespaces. The condition RemovalsConfirmed names the hosts and the values for all and for single namespaces, which are of ' +
        'no use for other hosts; several are separated by commas. Any: every removal, without a confirmation. Absent: such hosts keep their records.',
      REMOVAL,
    ).optional(),
    annotationFilter: patternSchema(
      'Only Ingresses and HTTPRoutes with this annotation, as key=value. Absent: all.',
      FILTER,
    ).optional(),
    annotationPrefix: patternSchema(
      `Prefix of the annotation <prefix>/traffic-weight of an Ingress or HTTPRoute, its percentage of the weight. Default: ${DEFAULT_ANNOTATION_PREFIX}.`,
      PREFIX,
    ).optional(),
    healthCheckID: z
      .string()
      .min(1)
      .max(LONGEST_HEALTH_CHECK)
      .optional()
      .meta({ description: 'ID of a health check of Route 53 that the records get. Default: none.' }),
    recordTTL: z.int().min(1).max(LONGEST_TTL).optional().meta({
      format: 'int32',
      description:
        'TTL of the records in seconds. All clusters of a host need the same. Default: 300, of external-dns.',
    }),
    hostedZoneIDs: z
      .array(patternSchema('ID of a hosted zone.', HOSTED_ZONE))
      .max(MOST_ZONES)
      .optional()
      .meta({
        description:
          'All hosted zones of Route 53 in which external-dns publishes the records. They are read, so that a record that Route 53 ' +
          'would refuse is named and not written, and a weight is in force only if the zones have it. Absent or empty: nothing is read.',
        'x-kubernetes-list-type': 'set',
      }),
    namespaceSelector: namespaceSelectorSchema(),
    ingressClassNames: z.array(z.string().min(1).max(LONGEST_DOMAIN)).max(MOST_CLASSES).optional().meta({
      description:
        'Only Ingresses of these classes: spec.ingressClassName, or the annotation kubernetes.io/ingress.class. Absent or empty: all.',
      'x-kubernetes-list-type': 'set',
    }),
    sources: z
      .array(z.enum(SOURCE_KINDS))
      .min(1)
      .max(SOURCE_KINDS.length)
      .optional()
      .meta({
        description: `The kinds whose hosts have records: ${SOURCE_KINDS.join(', ')}. Absent: all.`,
        'x-kubernetes-list-type': 'set',
      }),
    gatewayClassNames: z.array(z.string().min(1).max(LONGEST_DOMAIN)).max(MOST_CLASSES).optional().meta({
      description: 'Only HTTPRoutes of which a Gateway is of these classes. Absent or empty: all.',
      'x-kubernetes-list-type': 'set',
    }),
    backend,
    ramp: rampSchema,
    acknowledge: z
      .enum(ACKNOWLEDGE)
      .optional()
      .meta({
        description:
          'When a weight is in force. Observed: external-dns has read every DNSEndpoint (status.observedGeneration). ' +
          'Applied: every DNSEndpoint carries the weight, for a version of external-dns that does not report it. Default: Observed. ' +
          'With hostedZoneIDs, the zones must also have the weight.',
      }),
  })
  .meta({ description: 'Which hosts have records, and how much of their traffic this cluster takes.' });
