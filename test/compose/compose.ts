/** deploy/compose.yaml as `docker compose` runs it, with what this machine has instead of a registry of images. */
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { openEnvFile } from '@creditlane/compose/env-file';
import { SERVICES } from '@creditlane/platform/services';
import { parse } from 'yaml';
import { BASES } from '../end-to-end/base-images.ts';
import type { ContainerEngine } from '../end-to-end/container-engine.ts';
import { run } from '../programs/run.ts';
import type { ComposeParts } from './parts.ts';

const FILE = resolve(import.meta.dirname, '../../deploy/compose.yaml');
/** The first build installs the dependencies. */
const WITHIN_MS = 600_000;

interface ComposeService {
  image: string;
  build?: object;
}

/** What a test adds to the service of one name. */
export type Additions = Record<string, object>;

export async function composeServices(): Promise<Record<string, ComposeService>> {
  return parse(await readFile(FILE, 'utf8'), { merge: true }).services;
}

export class Compose {
  readonly #parts: ComposeParts;
  readonly #engine: ContainerEngine;
  readonly #dir: string;
  readonly #files: string[];
  readonly envFile: string;

  private constructor(parts: ComposeParts, engine: ContainerEngine, dir: string) {
    this.#parts = parts;
    this.#engine = engine;
    this.#dir = dir;
    this.envFile = join(dir, 'compose.env');
    this.#files = [FILE, join(dir, 'compose.override.json')];
  }

  /** Makes the secrets, as `npm run secrets` does, and the file with the additions, in a folder. */
  static async prepare(
    parts: ComposeParts,
    engine: ContainerEngine,
    { dir, additions = {} }: { dir: string; additions?: Additions },
  ): Promise<Compose> {
    const compose = new Compose(parts, engine, dir);
    await openEnvFile(compose.envFile, SERVICES);
    const services = Object.entries(await composeServices()).map(([name, { build }]) => [
      name,
      {
        ...(build !== undefined && { build: { args: BASES, network: 'host' } }),
        ...additions[name],
      },
    ]);
    const override = { services: Object.fromEntries(services) };
    await writeFile(compose.#files[1] ?? '', JSON.stringify(override));
    return compose;
  }

  /** Runs `docker compose`, and resolves to what it prints. */
  run(...args: string[]): Promise<string> {
    const files = this.#files.flatMap((file) => ['--file', file]);
    return run(this.#parts.dockerCompose, ['--env-file', this.envFile, ...files, ...args], {
      env: {
        ...this.#parts.debian.env,
        DOCKER_HOST: this.#engine.host,
        DOCKER_CONFIG: this.#dir,
        COMPOSE_PROGRESS: 'plain',
      },
      timeoutMs: WITHIN_MS,
    });
  }
}
