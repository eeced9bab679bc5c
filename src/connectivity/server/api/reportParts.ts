import type { HttpAnswer } from '../../../runtime/server/httpServer.ts';
import { reportJson } from '../../protocol/report.ts';
import type { Reports } from '../reports/reports.ts';

/** A part has this many UTF-16 code units or more, and one report beyond: what a socket takes at once. */
const PART_LENGTH = 64 * 1024;

/**
 * All reports as a JSON object by pod, sorted by pod as Go's maps are in JSON. With 10,000 agents they are 10 MB and more,
 * so they are sent in parts. Each report is read when its part is made: a slow reader holds one part and the names.
 * Reports that are forgotten meanwhile are left out.
 */
export function allReports(reports: Reports): HttpAnswer {
  const parts = inParts(objectTexts(reports));
  const first = parts.next();
  const second = parts.next();
  const answer = { status: 200, text: first.value ?? '', headers: { 'content-type': 'application/json' } };
  return second.done === true ? answer : { ...answer, parts: withFirst(second.value, parts) };
}

/** The texts of a JSON object, in their order. */
function* objectTexts(reports: Reports): Generator<string> {
  const pods = [...reports.entries()].map(([pod]) => pod).sort();
  let separator = '{';
  for (const pod of pods) {
    const state = reports.get(pod);
    if (state === undefined) continue;
    yield `${separator}${JSON.stringify(pod)}:${JSON.stringify(reportJson(state.report))}`;
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}

/** Joins texts to parts. */
function* inParts(texts: Iterable<string>): Generator<string, undefined> {
  let part = '';
  for (const text of texts) {
    part += text;
    if (part.length < PART_LENGTH) continue;
    yield part;
    part = '';
  }
  if (part !== '') yield part;
}

function* withFirst(first: string, others: Iterable<string>): Generator<string> {
  yield first;
  yield* others;
}
