// Keys of elements that the engine holds as objects, such as the element that embeds a frame.

agent.keyOf = ({ element }) => ({ document: documentName, key: keyOf(element) });
