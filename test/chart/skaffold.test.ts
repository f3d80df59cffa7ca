// skaffold.yaml: what each of its profiles builds, installs, copies and forwards is there.
import { readFileSync } from 'node:fs';
import { join, matchesGlob, resolve } from 'node:path';
import { SERVICES } from '@creditlane/platform/services';
import { Ajv, type ValidateFunction } from 'ajv';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { contextFiles } from '../image/root-file-system.ts';
import { findHelm, type Manifest, runHelm } from './helm.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
/** Empty when Helm is missing: the body of a skipped suite runs all the same. */
const helm = (await findHelm()) ?? '';

interface Patch {
  op: 'add' | 'replace';
  path: string;
  value: unknown;
}

interface Release {
  name: string;
  chartPath: string;
  namespace: string;
  valuesFiles: string[];
  setValues?: Record<string, unknown>;
  setValueTemplates: Record<string, string>;
}

interface Config {
  build: {
    local: { push: boolean };
    artifacts: {
      image: string;
      docker: { dockerfile: string; target?: string };
      sync?: { manual: { src: string; dest: string }[] };
    }[];
  };
  deploy: { helm: { releases: Release[] } };
  portForward: { resourceType: string; resourceName: string; namespace: string; port: number }[];
  profiles: { name: string; patches: Patch[] }[];
}

const config = () => parse(read('skaffold.yaml')) as Config;
/** Helm renders three releases at once, for which a busy machine takes long. */
const RENDERED_WITHIN = { timeout: 60_000 };
let validate: ValidateFunction;
beforeAll(() => {
  const schema = JSON.parse(read('test/chart/skaffold-v4beta13.schema.json'));
  validate = new Ajv({ strict: false, allErrors: true }).compile(schema);
});

/** The configuration with a profile's patches. A patch replaces what is there, and adds to what is there. */
function withProfile(name: string): Config {
  const patched = config();
  const profile = patched.profiles.find((it) => it.name === name);
  for (const { op, path, value } of profile?.patches ?? []) {
    const keys = path.slice(1).split('/');
    const last = keys.pop() ?? '';
    // biome-ignore lint/suspicious/noExplicitAny: the path leads through objects and arrays.
    const parent = keys.reduce((node: any, key) => node?.[key], patched);
    expect(parent, path).toBeTypeOf('object');
    expect(Object.hasOwn(parent, last), `${op} ${path}`).toBe(op === 'replace');
    parent[last] = value;
  }
  return patched;
}

/** What a profile's release makes, with an image that stands for the built one. */
async function renderRelease({ name, namespace, valuesFiles, setValues = {} }: Release) {
  const sets = Object.entries(setValues).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
  const image = ['--set', 'image.repository=built', '--set', 'image.tag=now'];
  const args = ['template', name, '--namespace', namespace, ...sets, ...image];
  const text = await runHelm(helm, args, {}, valuesFiles);
  const objects = parseAllDocuments(text).map((document) => document.toJS() as Manifest | null);
  return objects.filter((object) => object !== null);
}

test('skaffold.yaml follows the schema of its version, as it is and with each profile', () => {
  expect(config().profiles.map(({ name }) => name)).toEqual(['dev', 'ci', 'prod']);
  for (const name of ['', 'dev', 'ci', 'prod']) {
    validate(withProfile(name));
    expect(validate.errors, name).toBeNull();
  }
});

test('skaffold.yaml names no service but the gateway', () => {
  for (const { name } of SERVICES) expect(read('skaffold.yaml')).not.toContain(` ${name}:`);
  const forwarded = config().portForward.map(({ resourceName }) => resourceName);
  expect(new Set(forwarded)).toEqual(new Set(['creditlane-gateway']));
});

describe.skipIf(!helm).each([
  { profile: 'dev', values: 'development', replicas: 1, pushes: false, target: 'development' },
  { profile: 'ci', values: 'ci', replicas: 2, pushes: false, target: undefined },
  { profile: 'prod', values: 'production', replicas: undefined, pushes: true, target: undefined },
])(
  'with the profile $profile',
  RENDERED_WITHIN,
  ({ profile, values, replicas, pushes, target }) => {
    const { build, deploy, portForward } = withProfile(profile);
    const [artifact] = build.artifacts;
    const [release] = deploy.helm.releases as [Release];
    const rendered = helm === '' ? Promise.resolve([]) : renderRelease(release);
    const pods = async () => (await rendered).filter(({ kind }) => kind === 'Deployment');

    test('every service runs the image that was built, with the values of the profile', async () => {
      expect(release.valuesFiles).toEqual([`charts/creditlane/values/${values}.yaml`]);
      expect(build.local.push).toBe(pushes);
      expect(artifact?.docker.target).toBe(target);
      if (target) expect(read(artifact?.docker.dockerfile ?? '')).toContain(` AS ${target}\n`);
      expect(Object.values(release.setValueTemplates)).toEqual([
        `{{.IMAGE_REPO_${artifact?.image}}}`,
        `{{.IMAGE_TAG_${artifact?.image}}}`,
      ]);
      const deployments = await pods();
      expect(deployments).toHaveLength(SERVICES.length);
      for (const { spec } of deployments) {
        const [container] = spec.template.spec.containers;
        expect(container.image).toBe('built:now');
        expect(spec.replicas).toBe(replicas);
      }
    });

    test('every forwarded port is one of an object that is made, in its namespace', async () => {
      const objects = await rendered;
      expect(portForward.map(({ port }) => port)).toEqual([8080, 9090]);
      for (const { resourceType, resourceName, namespace, port } of portForward) {
        expect({ resourceType, namespace }).toEqual({
          resourceType: 'service',
          namespace: release.namespace,
        });
        const service = objects.find(
          ({ kind, metadata }) => kind === 'Service' && metadata.name === resourceName,
        );
        expect(service?.spec.ports).toContainEqual(expect.objectContaining({ port }));
      }
    });

    test('source is copied only into pods that can be written to and watch it', async () => {
      const copied = artifact?.sync?.manual ?? [];
      for (const { spec } of await pods()) {
        const [{ args, securityContext }] = spec.template.spec.containers;
        expect(args.includes('--watch')).toBe(copied.length > 0);
        expect(securityContext.readOnlyRootFilesystem).toBe(copied.length === 0);
      }
      const files = await contextFiles();
      for (const { src, dest } of copied) {
        // Relative to the working directory of the image, which has the folders of the repository.
        expect(dest).toBe('.');
        expect(files.filter((file) => matchesGlob(file, src)).length, src).toBeGreaterThan(0);
      }
      const source = files.filter((file) => /^(libs|services|proto)\/.*\.ts$/.test(file));
      const missed = source.filter((file) => !copied.some(({ src }) => matchesGlob(file, src)));
      expect(copied.length > 0 ? missed : []).toEqual([]);
    });
  },
);
