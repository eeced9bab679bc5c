import { PLANES } from '../../api/connectivitycheck/terms.ts';
import { MOST_ASSIGNED_URLS } from '../protocol/measurement.ts';
import { selects, type AssignmentInput } from './assignments.ts';
import { urlsOf } from './checkSettings.ts';

/** URLs that checks ask for, and that no agent of some nodes requests. */
export interface LeftOutUrls {
  /** How many URLs an agent requests at most. */
  readonly limit: number;
  /** How many URLs are left out on a node or more. */
  readonly count: number;
  /** These URLs, the first ones. */
  readonly urls: readonly string[];
  /** The checks that ask for them, sorted. */
  readonly checks: readonly string[];
  /** How many nodes are affected. */
  readonly nodes: number;
}

/** URLs that are named in a line of the log. */
const NAMED = 20;

/** The URLs that agents do not request, since the checks of their node ask for too many; undefined if all are requested. */
export function leftOutUrls({ nodes, checks }: Pick<AssignmentInput, 'nodes' | 'checks'>): LeftOutUrls | undefined {
  // Nearly always: then nothing has to be known of the nodes.
  if (urlsOf(checks).leftOut.length === 0) return undefined;
  const affected = new Set<string>();
  const urls = new Set<string>();
  for (const plane of PLANES) {
    for (const node of nodes) {
      const { leftOut } = urlsOf(checks.filter((check) => check.planes.includes(plane) && selects(check, node)));
      if (leftOut.length > 0) affected.add(node.name);
      for (const url of leftOut) urls.add(url);
    }
  }
  if (urls.size === 0) return undefined;
  const asking = checks.filter((check) => check.urls.some((url) => urls.has(url))).map(({ name }) => name);
  return {
    ...{ limit: MOST_ASSIGNED_URLS, count: urls.size, urls: [...urls].slice(0, NAMED) },
    ...{ checks: asking.sort(), nodes: affected.size },
  };
}
