import {
  CONNECTIVITY_CHECKS,
  type ConnectivityCheck,
  connectivityCheckResource,
} from '../../api/connectivitycheck/connectivityCheck.ts';
import { APPLY_CRD } from '../../api/crd.ts';
import { serverAddress } from '../../connectivity/objects/names.ts';
import { firstProblem, flag, type FlagCheck, type FlagTable, type FlagValues } from '../../options/flagTable.ts';
import { url } from '../../options/values.ts';
import { BodyBudget, createBoundedInformer, identityOf, reportedFields } from '../../runtime/cache/bodyBudget.ts';
import { shareOfHeap } from '../../runtime/cache/fairShare.ts';
import {
  withoutAnnotations,
  withoutManagedFields,
  type Informer,
  type InformerOptions,
  logMissingCrd,
} from '../../runtime/cache/informer.ts';
import { createOverlay } from '../../runtime/cache/overlay.ts';
import { keyOf } from '../../runtime/client/resource.ts';
import { Controller } from '../../runtime/controller/controller.ts';
import {
  controllerPart,
  optionalCachePart,
  readyWithoutCrd,
  unneededCachePart,
} from '../../runtime/manager/manager.ts';
import { seriesBudgets } from '../../runtime/manager/seriesBudget.ts';
import type { Part } from '../../runtime/process/part.ts';
import { StatusWriter } from '../../runtime/status/statusWriter.ts';
import type { SharedFlags } from '../contract/flags.ts';
import { defineController } from '../contract/module.ts';
import { NO_RIGHTS, rule, type ControllerRights } from '../contract/rights.ts';
import { intervalMs } from './decide/known.ts';
import { createConnectivityCheckMetrics } from './metrics.ts';
import { EvaluationFeed } from './observe/evaluationFeed.ts';
import { createServerClient } from './observe/serverClient.ts';
import { reconcile, type Memory } from './reconcile.ts';

/** Field manager of the controller's writes. */
const FIELD_MANAGER = 'traffic-operator-connectivitycheck';

/** The flags of the manager for the connectivity server that it asks. */
const CONNECTIVITY_CHECK_FLAGS = {
  connectivityServerUrl: flag(url, 'URL of the connectivity server. It is asked while there is a ConnectivityCheck.', {
    defaultNote:
      `with --connectivity http://${serverAddress('<namespace>')}, https with --connectivity-server-ca-file; ` +
      'otherwise none, and ConnectivityChecks are Unknown',
  }),
} as const satisfies FlagTable;

type Flags = SharedFlags & FlagValues<typeof CONNECTIVITY_CHECK_FLAGS>;

const CHECKS: readonly FlagCheck<Flags>[] = [
  ({ connectivityServerUrl, connectivityServerCaFile }) =>
    connectivityServerCaFile !== undefined && connectivityServerUrl?.startsWith('http:') === true
      ? {
          key: 'connectivityServerCaFile',
          message: `needs an https URL, and --connectivity-server-url is ${connectivityServerUrl}`,
        }
      : undefined,
];

/** The first invalid combination of flags, or undefined. */
function connectivityCheckFlagProblem(flags: Flags) {
  return firstProblem(CHECKS, flags);
}

/** The URL of the connectivity server, without a trailing slash. Undefined if none is deployed and none was given. */
function serverUrlOf(
  flags: Pick<Flags, keyof typeof CONNECTIVITY_CHECK_FLAGS | 'connectivityServerCaFile' | 'connectivity' | 'namespace'>,
): string | undefined {
  if (!flags.connectivity && flags.connectivityServerUrl === undefined) return undefined;
  const scheme = flags.connectivityServerCaFile === undefined ? 'http' : 'https';
  const given = flags.connectivityServerUrl ?? `${scheme}://${serverAddress(flags.namespace)}`;
  return given.replace(/\/+$/, '');
}

/**
 * Returns the part that runs the informer. Without the CRD, the informer waits for it, and the rest of the operator works.
 *
 * @param isAsked whether there is a server to ask for checks
 */
function cachePartIfServed(informer: Informer<ConnectivityCheck>, { isAsked }: { readonly isAsked: boolean }): Part {
  const part = isAsked ? optionalCachePart(informer) : unneededCachePart(informer);
  return readyWithoutCrd(part, informer);
}

/** Part of the heap for the bodies of all checks. */
const PART_OF_HEAP = 1 / 32;

/** Creates the informer. If all checks take too much memory, it drops bodies of the largest (isWithoutBody). */
function createCheckInformer(
  options: Pick<InformerOptions<ConnectivityCheck>, 'transport' | 'logger' | 'metrics' | 'onRefusal'>,
): Informer<ConnectivityCheck> {
  const transform = (check: ConnectivityCheck): ConnectivityCheck => withoutAnnotations(withoutManagedFields(check));
  return createBoundedInformer({ ...options, resource: CONNECTIVITY_CHECKS, transform }, identityOfCheck, {
    ...{ budget: new BodyBudget(Infinity, keyOf), share: shareOfHeap(PART_OF_HEAP) },
  });
}

/** Returns what the cache keeps of a check whose body it drops, in a bounded size. */
export function identityOfCheck(check: ConnectivityCheck): ConnectivityCheck {
  const status = reportedFields(check.status, ['conditions', 'observedGeneration', 'verdict']);
  return { ...identityOf(check), ...(status !== undefined && { status }) };
}

/** The controller of ConnectivityChecks. It asks the connectivity server, and writes the findings to the status of each check. */
export const connectivityCheck = defineController({
  name: 'connectivitycheck',
  kinds: [connectivityCheckResource],
  flags: CONNECTIVITY_CHECK_FLAGS,
  flagProblem: connectivityCheckFlagProblem,
  rights: connectivityCheckRights,
  registerMetrics: createConnectivityCheckMetrics,
  create({ client, transport, events, isLeader, metrics, clock, logger }, flags) {
    const gauges = createConnectivityCheckMetrics(metrics.registry, seriesBudgets({ clock, logger, metrics }));
    const resource = CONNECTIVITY_CHECKS;
    const url = serverUrlOf(flags);
    const informer = createCheckInformer({
      ...{ transport, logger, metrics: metrics.reflector },
      ...(url !== undefined && {
        onRefusal: logMissingCrd({ resource, logger, waiting: 'the operator', advice: APPLY_CRD }),
      }),
    });
    const objects = createOverlay(informer, { clock });
    const statuses = new StatusWriter({ client, resource, fieldManager: FIELD_MANAGER, objects });
    const memories = new Map<string, Memory>();
    const controller = new Controller({
      name: 'connectivitycheck',
      logger,
      metrics: metrics.controller,
      clock,
      reconcile: (key, signal) =>
        reconcile({ statuses, feed, events, metrics: gauges, clock, isLeader, memories }, key, signal),
    });
    const enqueueAll = (): void => {
      for (const check of informer.lister.list()) controller.queue.add(keyOf(check));
    };
    const feed: EvaluationFeed = new EvaluationFeed({
      client: url === undefined ? undefined : createServerClient(url, flags.connectivityServerCaFile),
      clock,
      logger,
      checks: () => informer.lister.list().map((check) => ({ name: keyOf(check), intervalMs: intervalMs(check) })),
      isLeader,
      onChange: () => {
        gauges.serverUp(feed.isUp);
        enqueueAll();
      },
    });
    informer.subscribe(({ object }) => controller.queue.add(keyOf(object)));
    return {
      parts: [
        cachePartIfServed(informer, { isAsked: url !== undefined }),
        controllerPart(controller),
        { name: 'evaluations of the connectivity server', stage: 'work', run: (stop) => feed.run(stop) },
      ],
      enqueueAll,
    };
  },
  cleanUp: () => Promise.resolve(),
});

const { group, plural } = CONNECTIVITY_CHECKS;

/** The RBAC rights of the controller of ConnectivityChecks. A clean-up has nothing to remove. */
function connectivityCheckRights(): ControllerRights {
  return {
    controller: {
      cluster: [
        rule(group, [plural], ['list', 'watch']),
        { ...rule(group, [`${plural}/status`], ['patch']), why: 'Verdict, findings and outages are in the status.' },
      ],
      own: [],
    },
    cleanup: NO_RIGHTS,
  };
}
