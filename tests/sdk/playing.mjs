// Plays the scenarios a plan has places for, four at a time, and prints what they saw.
export async function play(plan, scenarios) {
  const facts = {};
  const names = Object.keys(scenarios).filter((name) => name in plan.places);
  async function next() {
    while (names.length) {
      const name = names.shift();
      const late = new Promise((resolve) => setTimeout(resolve, 20_000, { failed: 'took too long' }).unref());
      const broken = (error) => ({ failed: String(error?.stack ?? error) });
      facts[name] = await Promise.race([scenarios[name](plan.places[name]).catch(broken), late]);
    }
  }
  await Promise.all([next(), next(), next(), next()]);
  console.log(JSON.stringify(facts));
  process.exit(0);
}
