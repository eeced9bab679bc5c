import type { HttpAnswer } from '../../../runtime/server/httpServer.ts';
import { reportJson } from '../../protocol/report.ts';
import { inParts } from '../reports/inParts.ts';
import type { Reports } from '../reports/reports.ts';

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

function* withFirst(first: string, others: Iterable<string>): Generator<string> {
  yield first;
  yield* others;
}
