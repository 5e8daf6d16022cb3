// An agent on the AI SDK, as tests/e2e/programs.py has them on other frameworks: node program.mjs FILE [--resume] PROMPT
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const required = createRequire(process.env.AI_SDK_PACKAGES + "/");
const from = (name) => import(pathToFileURL(required.resolve(name)).href);
const { generateText, stepCountIs, streamText, tool } = await from("ai");
const { createOpenAICompatible } = await from("@ai-sdk/openai-compatible");
const { z } = await from("zod");

const [file, ...rest] = process.argv.slice(2);
const prompt = rest.at(-1);
const past = rest.includes("--resume") && existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
const options = { name: "openai", baseURL: process.env.OPENAI_BASE_URL, apiKey: process.env.OPENAI_API_KEY };
const model = createOpenAICompatible(options)("gpt-5.5");

const run = (command) => {
  try {
    return execFileSync("sh", ["-c", command], { encoding: "utf8", timeout: 60000 });
  } catch (error) {
    return `${error.stdout}${error.stderr}(exit code ${error.status})`;
  }
};
const shell = tool({
  description: "Run a command in the project.",
  inputSchema: z.object({ command: z.string() }),
  execute: async ({ command }) => run(command),
});
const read = tool({
  description: "Return the text of a file.",
  inputSchema: z.object({ path: z.string() }),
  execute: async ({ path }) => readFileSync(path, "utf8"),
});
const helper = "You look at code for the build assistant, and report what you found.";
const delegate = tool({
  description: "Let a helper look at code.",
  inputSchema: z.object({ task: z.string() }),
  execute: async ({ task }) =>
    (await generateText({ model, system: helper, prompt: task, tools: { shell, read }, stopWhen: stepCountIs(9) })).text,
});

const messages = [...past, { role: "user", content: prompt }];
const system = "You are the build assistant of this team. Answer briefly.";
const done = streamText({ model, system, messages, tools: { shell, read, delegate }, stopWhen: stepCountIs(9) });
console.log(await done.text);
writeFileSync(file, JSON.stringify([...messages, ...(await done.response).messages]));
