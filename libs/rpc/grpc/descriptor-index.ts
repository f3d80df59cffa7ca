/** What the contracts of some services declare: their files and the names in them. */
import type { DescExtension, DescFile, DescService } from '@bufbuild/protobuf';
import { nestedTypes } from '@bufbuild/protobuf/reflect';

export class DescriptorIndex {
  /** Full names. */
  readonly services: readonly string[];
  readonly #files = new Map<string, DescFile>();
  readonly #fileOfSymbol = new Map<string, DescFile>();
  readonly #extensions = new Map<string, DescExtension[]>();

  /** `besides` are files that no service names, though its answers hold their messages. */
  constructor(services: readonly DescService[], besides: readonly DescFile[]) {
    this.services = services.map(({ typeName }) => typeName).sort();
    for (const file of withImports([...services.map((it) => it.file), ...besides])) this.#add(file);
  }

  /** The file of this path, as others import it. */
  fileNamed(path: string): DescFile | undefined {
    return this.#files.get(path);
  }

  /** The file that declares a symbol: a message, enum, extension or service, or what is in one. */
  fileWith(symbol: string): DescFile | undefined {
    const holder = symbol.slice(0, symbol.lastIndexOf('.'));
    return this.#fileOfSymbol.get(symbol) ?? this.#fileOfSymbol.get(holder);
  }

  /** All known extensions of a message; undefined when the message is not known. */
  extensionsOf(message: string): readonly DescExtension[] | undefined {
    if (!this.#fileOfSymbol.has(message)) return undefined;
    return this.#extensions.get(message) ?? [];
  }

  #add(file: DescFile): void {
    this.#files.set(file.proto.name, file);
    for (const type of nestedTypes(file)) {
      this.#fileOfSymbol.set(type.typeName, file);
      if (type.kind !== 'extension') continue;
      const { typeName } = type.extendee;
      this.#extensions.set(typeName, [...(this.#extensions.get(typeName) ?? []), type]);
    }
  }
}

/** Files with all that they import, each once and after its imports. */
export function withImports(files: readonly DescFile[]): Set<DescFile> {
  const all = new Set<DescFile>();
  const add = (file: DescFile) => {
    if (all.has(file)) return;
    for (const imported of file.dependencies) add(imported);
    all.add(file);
  };
  for (const file of files) add(file);
  return all;
}
