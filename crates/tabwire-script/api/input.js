// Keyboard and mouse of a page.

class Keyboard {
  #page;

  constructor(page) {
    this.#page = page;
  }

  async press(key) {
    await this.#page.call("press", { keys: [key] }, { title: "keyboard.press" });
  }

  async type(text, { delay = 0 } = {}) {
    await this.#page.call("type", { text, slowly: delay > 0 }, { title: "keyboard.type" });
  }

  async insertText(text) {
    await this.#page.call("type", { text }, { title: "keyboard.insertText" });
  }

  async down() {
    throw new Error("keyboard.down: held keys are not supported; press combinations such as 'Shift+A'");
  }

  async up() {
    throw new Error("keyboard.up: held keys are not supported; press combinations such as 'Shift+A'");
  }
}

class Mouse {
  #page;

  constructor(page) {
    this.#page = page;
  }

  #do(what, params, title) {
    return this.#page.call("mouse", { what, ...params }, { title: `mouse.${title}` });
  }

  async move(x, y) {
    await this.#do("move", { at: [x, y] }, "move");
  }

  async down({ button = "left" } = {}) {
    await this.#do("down", { button }, "down");
  }

  async up({ button = "left" } = {}) {
    await this.#do("up", { button }, "up");
  }

  async click(x, y, { button = "left", clickCount = 1 } = {}) {
    await this.move(x, y);
    for (let count = 0; count < clickCount; count++) {
      await this.down({ button });
      await this.up({ button });
    }
  }

  async dblclick(x, y, options = {}) {
    await this.click(x, y, { ...options, clickCount: 2 });
  }

  async wheel(deltaX, deltaY) {
    await this.#do("wheel", { by: [deltaX, deltaY] }, "wheel");
  }
}
