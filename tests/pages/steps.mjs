// What tests of the view do again and again.

export const text = (page, id) => page.locator("#" + id).innerText();
export const markup = (page, id) => page.locator("#" + id).innerHTML();
export const changes = (page, id, old) => page.waitForFunction(([i, o]) => document.getElementById(i).innerHTML !== o, [id, old]);
export const settled = (page) => page.waitForFunction(() => !document.querySelector("#posterior.stale"));
export const fragment = (page) => page.evaluate(() => location.hash);

// Acts, and waits until these parts of the page have changed and the posterior has followed.
export async function step(page, act, ids) {
  await settled(page);
  const old = Object.fromEntries(await Promise.all(ids.map(async (id) => [id, await markup(page, id)])));
  await act();
  for (const id of ids) await changes(page, id, old[id]);
  await settled(page);
}

// Where a point of the room is on the screen.
export async function onScreen(page, x, y) {
  return page.evaluate(([x, y]) => {
    const f = JSON.parse(document.getElementById("start").textContent).result.plan_frame;
    const px = f.area[0] + (x - f.x_m[0]) / (f.x_m[1] - f.x_m[0]) * f.area[2];
    const py = f.area[1] + (f.y_m[1] - y) / (f.y_m[1] - f.y_m[0]) * f.area[3];
    const at = new DOMPoint(px, py).matrixTransform(document.querySelector("#plan svg").getScreenCTM());
    return [at.x, at.y];
  }, [x, y]);
}

export async function drag(page, from, to) {
  await page.locator("#plan").scrollIntoViewIfNeeded();
  const a = await onScreen(page, ...from), b = await onScreen(page, ...to);
  await page.mouse.move(...a);
  await page.mouse.down();
  await page.mouse.move((a[0] + b[0]) / 2, (a[1] + b[1]) / 2, { steps: 4 });
  await page.mouse.move(...b, { steps: 4 });
  await page.mouse.up();
}
