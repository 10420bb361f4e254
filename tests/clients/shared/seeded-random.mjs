// A small repeatable random source (mulberry32): the same seed gives the same run.

export class SeededRandom {
  constructor(seed) {
    this.state = seed >>> 0;
  }

  /** A number from 0 up to, and without, 1. */
  next() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  below(limit) {
    return Math.floor(this.next() * limit);
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  /** A new list in random order. */
  shuffled(list) {
    const result = [...list];
    for (let last = result.length - 1; last > 0; last--) {
      const other = this.below(last + 1);
      [result[last], result[other]] = [result[other], result[last]];
    }
    return result;
  }
}
