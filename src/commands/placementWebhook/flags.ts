import { COMMON_FLAGS, metricsProblem, SERVER_FLAGS } from '../../options/commonFlags.ts';
import { listenAddress } from '../../options/connectivityValues.ts';
import {
  firstProblem,
  flag,
  withDefault,
  type FlagCheck,
  type FlagTable,
  type FlagValues,
} from '../../options/flagTable.ts';
import { dnsLabel, dnsSubdomain, path, port, url } from '../../options/values.ts';
import { WEBHOOK_PATH } from '../../placement/webhook/configuration.ts';

/** The default name of the Service, of the configuration and of the certificates. */
export const NAME = 'traffic-operator-placement';

/** The flags of `placement-webhook`. */
export const PLACEMENT_WEBHOOK_FLAGS = {
  namespace: withDefault(
    dnsLabel,
    'traffic-operator-system',
    'Namespace of the Service. Its pods, and the pods of kube-system, are never sent to the webhook.',
  ),
  configuration: withDefault(
    dnsSubdomain,
    NAME,
    'Name of the MutatingWebhookConfiguration. It must exist; this program writes its webhooks.',
  ),
  service: withDefault(dnsLabel, NAME, 'Name of the Service of the webhook.'),
  servicePort: withDefault(port, '443', 'Port of the Service.'),
  url: flag(
    url,
    `URL at which the API server reaches the webhook, instead of the Service: https, with the path ${WEBHOOK_PATH}.`,
  ),
  webhookBindAddress: withDefault(listenAddress, ':9443', 'Address that serves the webhook, over HTTPS.'),
  clientCaFile: flag(
    path,
    'CAs of the client certificate that the API server shows to webhooks, PEM. With it, other clients are refused. Read at the start.',
  ),
  ...SERVER_FLAGS,
  kubeconfig: COMMON_FLAGS.kubeconfig,
  logLevel: COMMON_FLAGS.logLevel,
} as const satisfies FlagTable;

export type PlacementWebhookFlags = FlagValues<typeof PLACEMENT_WEBHOOK_FLAGS>;

const CHECKS: readonly FlagCheck<PlacementWebhookFlags>[] = [
  ({ url: given }) => {
    if (given === undefined) return undefined;
    const { protocol, pathname } = new URL(given);
    const isUsable = protocol === 'https:' && pathname === WEBHOOK_PATH;
    return isUsable ? undefined : { key: 'url', message: `must be an https URL with the path ${WEBHOOK_PATH}` };
  },
  metricsProblem,
];

/** Whether the flags fit together. */
export function placementWebhookProblem(flags: PlacementWebhookFlags): ReturnType<FlagCheck<PlacementWebhookFlags>> {
  return firstProblem(CHECKS, flags);
}
