import * as z from 'zod';
import { durationSchema } from '../durationSchema.ts';
import { labelSelectorSchema } from '../labelSelector.ts';
import { DEFAULT_INTERVAL, DEFAULT_LOSS_PERCENT, DEFAULT_PEERS } from './defaults.ts';
import { PLANES } from './terms.ts';

/** The most URLs that a check requests. Each agent requests each of them in each interval. */
export const MOST_URLS = 20;
/** Longest URL: bounds the cost of the rules that the API server evaluates. */
const LONGEST_URL = 1024;
/** A host without user and password, then a path, a query or nothing. JavaScript and RE2 read it alike. */
const URL_PATTERN = '^https?://[^/?#@ ]+([/?#][!-~]*)?$';
const URL_MESSAGE = 'must be an http or https URL without user and password, such as "https://example.org/healthz"';
const PLANES_MESSAGE = `must name each plane once: ${PLANES.join(', ')}`;

const url = z
  .string()
  .max(LONGEST_URL, URL_MESSAGE)
  .refine((text) => new RegExp(URL_PATTERN).test(text) && URL.canParse(text), URL_MESSAGE)
  .meta({
    'x-kubernetes-validations': [{ rule: `isURL(self) && self.matches('${URL_PATTERN}')`, message: URL_MESSAGE }],
  });

const planes = z
  .array(z.enum(PLANES))
  .min(1)
  .max(PLANES.length)
  .refine((given) => new Set(given).size === given.length, PLANES_MESSAGE)
  .optional()
  .meta({
    description:
      'The networks to check: Pod, the network of the pods; Host, the network of the nodes themselves. Default: both.',
    'x-kubernetes-list-type': 'set',
  });

function probe(description: string) {
  return z
    .boolean()
    .optional()
    .meta({ description: `${description} Default: true.` });
}

const probes = z
  .object({
    dns: probe('Query the DNS of the cluster, over UDP and TCP.'),
    apiServer: probe('Connect to the Service of the API server.'),
    mtu: probe('Search the largest packet that passes between two nodes.'),
    urls: z
      .array(url)
      .max(MOST_URLS)
      .optional()
      .meta({
        description: `URLs that each agent requests in each interval, at most ${MOST_URLS}: http or https, without user and password. Agents refuse addresses of their own node, loopback, link-local and others: see the condition URLsAllowed. Default: none.`,
        'x-kubernetes-list-type': 'set',
      }),
  })
  .optional()
  .meta({ description: 'Probes of the agents in addition to the agents of other nodes.' });

const thresholds = z
  .object({
    lossPercent: z
      .int()
      .min(1)
      .max(100)
      .optional()
      .meta({
        format: 'int32',
        description: `Percentage of lost datagrams between two nodes, at or above which the pair is Degraded. Default: ${DEFAULT_LOSS_PERCENT}.`,
      }),
  })
  .optional()
  .meta({ description: 'Limits at which the check reports a finding.' });

/** Schema of `spec`. */
export const specSchema = z
  .object({
    interval: durationSchema(
      `Time between two reports of an agent. With several checks, an agent reports at the shortest. Default: ${DEFAULT_INTERVAL}.`,
      { least: '5s', most: '1h', examples: '"15s", "1m" or "1m30s"' },
    ),
    peers: z
      .int()
      .min(1)
      .max(50)
      .optional()
      .meta({
        format: 'int32',
        description: `Number of other nodes that each agent probes on its plane. The server changes them over time. Default: ${DEFAULT_PEERS}.`,
      }),
    nodeSelector: labelSelectorSchema(
      'Selects the nodes that are checked, by their labels. Absent or empty: all nodes.',
      'Checked',
    ),
    planes,
    probes,
    thresholds,
  })
  .optional()
  .meta({ description: 'What to check, and how often. Every field is optional.' });
