// `npm run test:restore`: a backup under load, the loss of all databases and of Kafka, and the restore that
// docs/operations/backup.md describes. Further arguments are those of `npm test`.
process.env.CREDITLANE_REQUIRE_KAFKA = '1';
process.argv.splice(2, 0, '--config', 'test/restore/vitest.config.ts');
await import('./test.ts');
