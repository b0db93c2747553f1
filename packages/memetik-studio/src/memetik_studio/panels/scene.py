"""The scene panel: ready scenes, bodies, files, undo, what is seen, recording."""

from __future__ import annotations

from functools import partial
from typing import Any

from memetik import bodies, scenes
from memetik.body import BASES
from memetik_studio.widgets import Panel, on_change, on_click, put


class ScenePanel(Panel):
    """Where a visit begins."""

    def build(self) -> None:
        gui = self.gui
        hint = "a .zip of a URDF or MuJoCo model with its meshes, a .urdf, or a scene as .json"
        kinds = ".zip,.urdf,.xml,.mjcf,.json"
        self._upload = gui.add_upload_button("upload your robot (.zip) or a scene", mime_type=kinds, hint=hint)
        self._upload.on_upload(self._take)
        self._models = gui.add_dropdown("model", options=("none",), visible=False, hint="the models of the upload")
        on_change(self._models, lambda model: self.page.act(lambda: self.session.open_model(model)))
        with gui.add_folder("Ready scenes"):
            for name in scenes.READY:
                on_click(gui.add_button(name), partial(self._open, name))
        with gui.add_folder("Any body", expand_by_default=False):
            self._body = gui.add_dropdown("bundled", options=bodies.names())
            self._base = gui.add_dropdown("base", options=BASES)
            on_click(gui.add_button("open body"), self._open_body)
        with gui.add_folder("File", expand_by_default=False):
            on_click(gui.add_button("save scene"), lambda: self.page.download("scene.json", self.session.save()))
            on_click(gui.add_button("copy as Python"), self._code)
            self._text = gui.add_text("Python", "", multiline=True, visible=False)
        with gui.add_folder("Seen", expand_by_default=False):
            for what, seen in self.page.stage.seen.items():
                on_change(gui.add_checkbox(what, seen), partial(self._see, what))
        with gui.add_folder("Recording", expand_by_default=False):
            record = gui.add_checkbox("record", False)
            self.bind(record, lambda: self.session.recording is not None, self.session.record)
            on_click(gui.add_button("export CSV"), lambda: self._export("csv"))
            on_click(gui.add_button("export JSON"), lambda: self._export("json"))

    def renew(self) -> None:
        super().renew()
        models = tuple(self.session.models) or ("none",)
        current = self.session.scene.body.value
        if tuple(self._models.options) != models:
            self._models.options = models
        if current in models:
            put(self._models, current)
        self._models.visible = len(models) > 1

    def _open(self, name: str) -> None:
        self.page.act(lambda: self.session.open(scenes.ready(name)))

    def _open_body(self) -> None:
        base = self._base.value
        source = scenes.BodySource("bundled", self._body.value, base, None if base == "fixed" else 2.0)
        self.page.act(lambda: self.session.open(scenes.blank(source, scenes.load_body(source))))

    def _take(self, event: Any) -> None:
        file = self._upload.value
        with self.page.waiting(f"Opening {file.name[-60:]}"):
            self.page.act(lambda: self.session.upload(file.name, file.content))

    def _code(self) -> None:
        code = self.session.code()
        self._text.value, self._text.visible = code, True
        self.page.download("scene.py", code)

    def _see(self, what: str, on: bool) -> None:
        self.page.stage.seen[what] = on
        self.page.show()

    def _export(self, kind: str) -> None:
        recording = self.session.recorded
        if recording is None:
            self.page.tell("Nothing recorded", "Tick 'record', drag a target, and export then.")
        else:
            self.page.download(f"motion.{kind}", recording.to_csv() if kind == "csv" else recording.to_json())
