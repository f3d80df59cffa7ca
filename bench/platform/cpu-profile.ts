/** The CPU time of this process, by the step of a webhook's way whose code spends it. */
import { type Profiler, Session } from 'node:inspector/promises';

const SAMPLE_EVERY_US = 500;

/** The innermost frame of a stack whose file matches decides its step. */
export type StepFiles = readonly (readonly [step: string, files: RegExp])[];

/** Runs `work`; resolves to the share of each step in the samples that were not idle, `other` for those of no step. */
export async function profileSteps(
  steps: StepFiles,
  other: string,
  work: () => Promise<unknown>,
): Promise<Map<string, number>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_EVERY_US });
  await session.post('Profiler.start');
  await work();
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  return sharesOf(profile, steps, other);
}

function sharesOf(profile: Profiler.Profile, steps: StepFiles, other: string) {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map<number, number>();
  for (const { id, children = [] } of profile.nodes) {
    for (const child of children) parents.set(child, id);
  }
  const stepOf = (id: number): string => {
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const url = nodes.get(at)?.callFrame.url ?? '';
      const found = steps.find(([, files]) => files.test(url));
      if (found !== undefined) return found[0];
    }
    return other;
  };
  const counts = new Map<string, number>();
  let busy = 0;
  for (const id of profile.samples ?? []) {
    if (nodes.get(id)?.callFrame.functionName === '(idle)') continue;
    const step = stepOf(id);
    counts.set(step, (counts.get(step) ?? 0) + 1);
    busy += 1;
  }
  return new Map([...counts].map(([step, count]) => [step, count / busy]));
}
