"""Opens the parts that the settings name; heavy imports happen only when a part is wanted."""

from __future__ import annotations

import weakref

from rag.assistant import Assistant
from rag.catalog import catalog
from rag.embed import Embedder, open_embedder
from rag.errors import SettingsError, WeightsError
from rag.indexing import Progress, Quiet, check_settings, mend
from rag.library import Library
from rag.likelihood import Likelihood
from rag.model import Model
from rag.retrieve import Retriever
from rag.server import Server
from rag.settings import Settings
from rag.vectors import VectorStore
from rag.weights import locate


def library_of(settings: Settings) -> Library:
    return Library(settings.collection_dir)


def vectors_of(settings: Settings, generation: int | None = None) -> VectorStore:
    """The collection's vectors, as of that generation of the library or later.

    Raises SettingsError for a server elsewhere while offline.
    """
    url = settings.chroma_url
    if settings.offline and url and not Server(url, "").is_local:
        raise SettingsError(f"chroma_url: {url} is not on this machine, and Pincite is offline.")
    return VectorStore(settings.collection_dir / "vectors", url, settings.collection, generation)


def embedder_of(
    settings: Settings, progress: Progress | None = None, *, for_documents: bool = False
) -> Embedder:
    """The embedder, fetched first if its files are missing."""
    model = catalog().get(settings.embedder)
    if model is None or model.role != "embedder":
        known = ", ".join(m.name for m in catalog().values() if m.role == "embedder")
        raise SettingsError(f"There is no embedder {settings.embedder!r}. Known: {known}.")
    folder = locate(settings.embedder, settings.models_dir, offline=settings.offline, progress=progress)
    return open_embedder(folder, settings.embedder, for_documents=for_documents)


def model_of(settings: Settings, progress: Progress | None = None) -> Model:
    """The language model: a local file (fetched first if it is missing) or a server's."""
    if settings.is_remote:
        from rag.remote import RemoteModel

        return RemoteModel(
            settings.llm,
            settings.llm_name,
            api_key=settings.api_key.get_secret_value(),
            context=settings.context,
            encodings=settings.models_dir / "tiktoken-encodings",
            offline=settings.offline,
        )
    from rag.llm import LlamaModel

    path = locate(settings.llm, settings.models_dir, offline=settings.offline, progress=progress)
    known = catalog().get(settings.llm)
    sha256 = (known.files[0].sha256 if known else None) or ""
    return LlamaModel(path, context=settings.context, cache_dir=settings.cache_dir, sha256=sha256)


def retriever_of(
    settings: Settings, progress: Progress | None = None, embedder: Embedder | None = None
) -> Retriever:
    embedder = embedder or embedder_of(settings, progress)
    library = library_of(settings)
    check_settings(library, embedder)
    vectors = vectors_of(settings, library.generation())
    mend(library, vectors, progress or Quiet())
    return Retriever(library, vectors, embedder)


def assistant_of(settings: Settings, progress: Progress | None = None) -> Assistant:
    retriever, model = retriever_of(settings, progress), model_of(settings, progress)
    return Assistant(retriever, model, settings, scorer_of(settings))


def beside(assistant: Assistant, settings: Settings) -> Assistant:
    """The assistant of another collection: it shares the first one's models, and the queue before them.

    Its vectors are closed once nobody holds its retriever any more.
    """
    retriever = retriever_of(settings, embedder=assistant.retriever.embedder)
    weakref.finalize(retriever, retriever.vectors.close).atexit = False
    return Assistant(retriever, assistant.model, settings, assistant.scorer, assistant.writer.turnstile)


def scorer_of(settings: Settings) -> Likelihood | None:
    """The small model that compares close papers; None if it is switched off, or not here.

    It is never fetched on the way: answers do without it. `pincite models pull` and a first start bring it.
    """
    if settings.scorer == "none":
        return None
    if settings.scorer not in catalog():
        raise SettingsError(f"There is no scorer {settings.scorer!r}. Known: smollm2-135m, none.")
    try:
        path = locate(settings.scorer, settings.models_dir, offline=True)
    except WeightsError:
        return None
    return Likelihood(path, settings.cache_dir)
