import { isGone } from '../../client/errors.ts';
import type { KubeObject } from '../../client/resource.ts';
import type { Transport, TransportRequest } from '../../client/transport/types.ts';
import { pageRequest, wholeListRequest } from './requests.ts';
import type { Selection } from './requests.ts';

/** All objects at one resource version. */
export interface CompleteList<T> {
  objects: T[];
  version: string;
}

interface Page<T> {
  items?: T[] | null;
  metadata?: { resourceVersion?: string; continue?: string };
}

/**
 * Reads all objects in pages, all of one version. If the pages expire (410), it reads all objects in one
 * response, as client-go's pager does.
 *
 * @param keep applied to each page, so that dropped parts of objects are not held for the whole list
 */
export async function listPages<T extends KubeObject>(
  transport: Transport,
  selection: Selection,
  keep: (object: T) => T,
  signal: AbortSignal,
): Promise<CompleteList<T>> {
  const read = (request: TransportRequest): Promise<Page<T>> => transport.request<Page<T>>({ ...request, signal });
  const objects: T[] = [];
  let next: string | undefined;
  for (;;) {
    const page = await readPage(read, selection, next);
    if (page.expired) objects.length = 0;
    for (const item of page.items ?? []) objects.push(keep(item));
    next = page.metadata?.continue;
    if (next === undefined || next === '') return { objects, version: page.metadata?.resourceVersion ?? '' };
  }
}

/** @returns `expired`: discard the pages so far; this is the whole list */
async function readPage<T>(
  read: (request: TransportRequest) => Promise<Page<T>>,
  selection: Selection,
  next: string | undefined,
): Promise<Page<T> & { expired: boolean }> {
  try {
    return { ...(await read(pageRequest(selection, next))), expired: false };
  } catch (error) {
    if (next === undefined || !isGone(error)) throw error;
    return { ...(await read(wholeListRequest(selection))), expired: true };
  }
}
