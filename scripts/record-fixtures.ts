// `npm run fixtures:record [case …]`: records what the real CLIs print, all cases or those named, for every adapter that has them.
for (const adapter of ["adapter-opencode", "adapter-claude"]) await import(`../packages/${adapter}/fixtures/record.ts`);
